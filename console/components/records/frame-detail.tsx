// A frame's views: tree, raw, schema check, redactions, latency.
import { signal } from '@preact/signals';
import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { FrameDetail as Found, FrameLatency, FrameRow, Redaction, SchemaCheck } from '../../../src/console/protocol/frames.ts';
import { ask } from '../../socket.ts';
import { sessions } from '../../state.ts';
import { shownId } from '../controls/format.ts';
import { Icon } from '../controls/icon.tsx';
import { Problem } from '../controls/problem.tsx';
import { Tabs } from '../controls/tabs.tsx';
import { type Exchange, partyOf, wayOf } from './exchanges.ts';
import { seconds } from './plots.ts';
import { canResend, Resend } from './resend.tsx';
import { Tree } from './tree.tsx';

/** Kept when the user moves to another frame. */
const tab = signal('tree');

type Props = {
  readonly row: FrameRow;
  readonly exchange: Exchange | undefined;
  readonly close: () => void;
  readonly show: (n: number) => void;
  /** Adds a term to the filter, or removes it. */
  readonly only: (term: string) => void;
};

export function FrameDetail({ row: given, exchange, close, show, only }: Props): VNode {
  const [found, setFound] = useState<Found>();
  const [problem, setProblem] = useState('');
  useEffect(() => {
    ask('frame', { n: given.n }).then(setFound, (error: Error) => setProblem(error.message));
  }, [given.n]);
  const { body, row = given } = found ?? {};
  return (
    <aside class="detail" aria-label="Frame">
      <header>
        <b>{row.method ?? row.event ?? row.kind}</b>
        <button type="button" class="quiet" disabled={body === undefined} onClick={() => body && void navigator.clipboard.writeText(body)}>
          Copy
        </button>
        <button type="button" class="quiet" aria-label="Close" onClick={close}>
          <Icon name="cross" />
        </button>
      </header>
      <p class="dim">{about(row)}</p>
      {exchange && exchange.frames.length > 1 && <Frames exchange={exchange} current={given.n} show={show} />}
      <Values row={row} only={only} />
      {canResend(row) && <Resend n={given.n} method={row.method ?? ''} body={body} />}
      <Problem text={problem} />
      {found && (
        <Tabs tabs={tabsOf(found)} current={tab.value} choose={choose} label="Views of the frame">
          <View found={found} show={show} />
        </Tabs>
      )}
    </aside>
  );
}

/** The frames of an exchange: the request and the answer, on both connections. */
function Frames({ exchange, current, show }: { exchange: Exchange; current: number; show: (n: number) => void }): VNode {
  return (
    <fieldset class="buttons frames-of" aria-label="Frames of the exchange">
      {exchange.frames.map((row) => (
        <button key={row.n} type="button" aria-pressed={row.n === current} onClick={() => show(row.n)}>
          {row.kind === 'request' ? 'Request' : 'Answer'} <small>{partyOf(row)}</small>
          {row.ms !== undefined && <small>{seconds(row.ms / 1000)}</small>}
        </button>
      ))}
    </fieldset>
  );
}

/** The values of a frame, each of which filters the list. */
function Values({ row, only }: { row: FrameRow; only: (term: string) => void }): VNode {
  const { leg, method, session, kind, id } = row;
  const values: readonly (readonly [string, string | undefined])[] = [
    [leg === 'editor' || leg?.includes('#') ? 'connection' : 'agent', leg && partyOf(row)],
    ['method', method],
    ['session', session],
    ['kind', kind],
    ['id', id],
  ];
  return (
    <p class="values">
      {values.map(
        ([name, value]) =>
          value !== undefined && (
            <button key={name} type="button" class="chip" title="Filter by this" onClick={() => only(`${name}:${quoted(value)}`)}>
              {name}:{name === 'session' ? sessions.value.get(value)?.title || shownId(value) : value}
            </button>
          ),
      )}
    </p>
  );
}

const quoted = (value: string): string => (/\s/.test(value) ? `"${value}"` : value);

const choose = (name: string): void => {
  tab.value = name;
};

function about(row: FrameRow): string {
  const { dir, kind, bytes, ms } = row;
  const way = dir === undefined ? partyOf(row) : wayOf(row).join(' → ');
  const parts = [way, kind, bytes === undefined ? '' : `${bytes} bytes`, ms === undefined ? '' : seconds(ms / 1000)];
  return parts.filter((part) => part !== undefined && part !== '').join(' · ');
}

function tabsOf({ schema, redactions }: Found) {
  const taken = redactions.reduce((sum, { count }) => sum + count, 0);
  const problems = schema?.problems.length ?? 0;
  const counted = (label: string, count: number, tone: string): ComponentChildren =>
    count === 0 ? (
      label
    ) : (
      <>
        {label} <span class={`chip ${tone}`}>{count}</span>
      </>
    );
  return [
    { name: 'tree', label: 'Tree' },
    { name: 'raw', label: 'Raw' },
    { name: 'check', label: counted('Check', problems, schema?.problems.some(({ isTolerated }) => !isTolerated) ? 'bad' : '') },
    { name: 'redactions', label: counted('Redactions', taken, '') },
    { name: 'latency', label: 'Latency' },
  ];
}

function View({ found, show }: { readonly found: Found; readonly show: (n: number) => void }): VNode {
  const { body, schema, redactions, latency } = found;
  if (tab.value === 'latency') return <Latency latency={latency} show={show} />;
  if (body === undefined)
    return <p class="quiet-text">The content is not available: it passed while no page was open, was dropped, or was too large.</p>;
  if (tab.value === 'raw') return <pre>{body}</pre>;
  if (tab.value === 'check') return <Check schema={schema} />;
  if (tab.value === 'redactions') return <Redactions redactions={redactions} />;
  const value = parsed(body);
  return value === undefined ? <pre>{body}</pre> : <Tree value={value} />;
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

function Check({ schema }: { readonly schema: SchemaCheck | undefined }): VNode {
  if (!schema) return <p class="quiet-text">This is not a JSON-RPC message, so it cannot be checked.</p>;
  const { name, why, problems } = schema;
  return (
    <>
      <p class={problems.length === 0 && name !== undefined ? 'yes' : 'dim'}>
        {name === undefined
          ? `Not checked: ${why}.`
          : problems.length === 0
            ? `Valid: matches ${name} of ACP.`
            : `Checked against ${name} of ACP:`}
      </p>
      <ul class="findings">
        {problems.map(({ at, what, isTolerated }) => (
          <li key={at + what}>
            <code>{at}</code> {what}
            {isTolerated && <span class="dim"> (readers must ignore it)</span>}
          </li>
        ))}
      </ul>
    </>
  );
}

function Redactions({ redactions }: { readonly redactions: readonly Redaction[] }): VNode {
  if (redactions.length === 0) return <p class="quiet-text">Nothing was redacted.</p>;
  return (
    <table class="list matrix">
      <thead>
        <tr>
          <th>What it was</th>
          <th class="number">Times</th>
          <th>Where</th>
        </tr>
      </thead>
      <tbody>
        {redactions.map(({ kind, count, at }) => (
          <tr key={kind}>
            <td>{kind === '' ? 'secret, by its field name' : kind}</td>
            <td class="number">{count}</td>
            <td>
              {at.map((place) => (
                <div key={place}>
                  <code>{place}</code>
                </div>
              ))}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Latency({ latency, show }: { readonly latency: FrameLatency; readonly show: (n: number) => void }): VNode {
  const { tookMs, half, passed, beyondMs, oursMs } = latency;
  if (tookMs === undefined && half === undefined && !passed)
    return <p class="quiet-text">No timing: this is neither a request nor a response, or its counterpart is missing.</p>;
  const to = (n: number, label: string) => (
    <button type="button" class="link" onClick={() => show(n)}>
      {label}
    </button>
  );
  return (
    <dl class="times">
      <Time name="From request to response, on this connection" ms={tookMs}>
        {half !== undefined && to(half, 'the counterpart')}
      </Time>
      <Time name={passed ? `The same on the connection to ${partyOf(passed)}` : 'The same on the other connection'} ms={beyondMs}>
        {passed && to(passed.n, 'the same frame there')}
      </Time>
      <Time name="Time in switchboard, both ways" ms={oursMs} />
      <Time name="This frame took" ms={passed?.addedMs} />
    </dl>
  );
}

function Time({
  name,
  ms,
  children,
}: {
  readonly name: string;
  readonly ms: number | undefined;
  readonly children?: ComponentChildren;
}): VNode {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {ms === undefined ? '–' : `${ms} ms`} {children}
      </dd>
    </div>
  );
}
