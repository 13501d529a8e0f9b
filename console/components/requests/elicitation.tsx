// An elicitation: a form, or a URL that opens only after confirmation.
import type { ComponentChildren, VNode } from 'preact';
import { useId, useState } from 'preact/hooks';
import type { ChatActions } from '../../../src/console/protocol/chat.ts';
import { type Field, problemWith, type Value } from '../../../src/console/protocol/form.ts';
import type { Elicitation as ElicitationShape, PendingRequest } from '../../../src/console/protocol/state.ts';
import { ask } from '../../socket.ts';
import { Problem } from '../controls/problem.tsx';

type Action = ChatActions['reply']['params']['action'];
type Reply = (action: Action, values?: readonly Value[]) => void;

export function Elicitation({ request, elicitation }: { readonly request: PendingRequest; readonly elicitation: ElicitationShape }): VNode {
  const [problem, setProblem] = useState('');
  const reply: Reply = (action, values = []) => {
    setProblem('');
    ask('reply', { requestId: request.requestId, action, values: values.map((value) => value ?? null) }).then(
      ({ problem: wrong, url }) => {
        if (wrong !== undefined) setProblem(wrong);
        if (url !== undefined) window.open(url, '_blank', 'noopener,noreferrer');
      },
      (error: Error) => setProblem(error.message),
    );
  };
  return (
    <>
      {elicitation.mode === 'form' && <Form fields={elicitation.fields} reply={reply} />}
      {elicitation.mode === 'url' && (
        <>
          <p>
            The agent asks you to visit <b class="host">{elicitation.host}</b>. It opens in a new tab; the agent learns that you agreed, not
            what you do there.
          </p>
          <pre class="address-whole">{elicitation.url}</pre>
          <Buttons reply={reply}>
            <button type="button" class="primary" onClick={() => reply('accept')}>
              Open {elicitation.host}
            </button>
          </Buttons>
        </>
      )}
      {elicitation.mode === 'other' && (
        <>
          <p>This request cannot be answered here, only declined.</p>
          <pre class="command">{elicitation.text}</pre>
          <Buttons reply={reply} />
        </>
      )}
      <Problem text={problem} />
    </>
  );
}

function Buttons({ reply, children }: { readonly reply: Reply; readonly children?: ComponentChildren }): VNode {
  return (
    <div class="buttons">
      {children}
      <button type="button" class="danger" onClick={() => reply('decline')}>
        Decline
      </button>
      <button type="button" class="quiet" title="Neither accept nor decline" onClick={() => reply('cancel')}>
        Cancel
      </button>
    </div>
  );
}

function Form({ fields, reply }: { readonly fields: readonly Field[]; readonly reply: Reply }): VNode {
  const [values, setValues] = useState<readonly Value[]>(() => fields.map(({ value }) => value));
  const [isTried, setTried] = useState(false);
  const problems = fields.map((field, at) => problemWith(field, values[at]));
  return (
    <form
      class="fields"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        setTried(true);
        if (problems.every((problem) => problem === undefined)) reply('accept', values);
        else event.currentTarget.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
      }}
    >
      {fields.map((field, at) => (
        <Entry
          key={at}
          field={field}
          value={values[at]}
          problem={isTried ? problems[at] : undefined}
          set={(value) => setValues(values.with(at, value))}
        />
      ))}
      <Buttons reply={reply}>
        <button type="submit" class="primary">
          Send
        </button>
      </Buttons>
    </form>
  );
}

type EntryProps = {
  readonly field: Field;
  readonly value: Value;
  readonly problem: string | undefined;
  readonly set: (value: Value) => void;
};

function Entry({ field, value, problem, set }: EntryProps): VNode {
  const id = useId();
  const { title, description, isRequired } = field;
  const about = {
    id,
    'aria-describedby': `${id}-about`,
    'aria-required': isRequired,
    'aria-invalid': problem !== undefined,
  };
  const label = `${title}${isRequired ? ' *' : ''}`;
  const isMany = field.kind === 'choices';
  return (
    <div class="field" {...(isMany && { role: 'group', 'aria-label': title })}>
      {field.kind === 'boolean' ? (
        <label class="tick">
          <input type="checkbox" {...about} checked={value === true} onChange={({ currentTarget }) => set(currentTarget.checked)} /> {label}
        </label>
      ) : isMany ? (
        <span>{label}</span>
      ) : (
        <label for={id}>{label}</label>
      )}
      {field.kind === 'text' && (
        <input
          type="text"
          inputMode={MODES[field.format ?? ''] ?? 'text'}
          {...about}
          value={typeof value === 'string' ? value : ''}
          onInput={({ currentTarget }) => set(currentTarget.value)}
        />
      )}
      {field.kind === 'number' && (
        <input
          type="number"
          {...about}
          step={field.isInteger ? 1 : 'any'}
          value={typeof value === 'number' ? value : ''}
          onInput={({ currentTarget: { value: typed } }) => set(typed === '' ? undefined : Number(typed))}
        />
      )}
      {field.kind === 'choice' && (
        <select
          {...about}
          value={typeof value === 'number' ? String(value) : ''}
          onChange={({ currentTarget: { value: chosen } }) => set(chosen === '' ? undefined : Number(chosen))}
        >
          <option value="">{isRequired ? 'Choose…' : 'None'}</option>
          {field.choices.map((name, at) => (
            <option value={at}>{name}</option>
          ))}
        </select>
      )}
      {field.kind === 'choices' &&
        field.choices.map((name, at) => {
          const chosen = Array.isArray(value) ? (value as readonly number[]) : [];
          return (
            <label class="tick">
              <input
                type="checkbox"
                checked={chosen.includes(at)}
                aria-invalid={problem !== undefined}
                onChange={({ currentTarget }) =>
                  set(currentTarget.checked ? [...chosen, at].sort((a, b) => a - b) : chosen.filter((one) => one !== at))
                }
              />{' '}
              {name}
            </label>
          );
        })}
      <small id={`${id}-about`}>
        {[description, field.kind === 'text' && field.hint !== undefined ? `Expected format: ${field.hint}` : undefined]
          .filter((part) => part !== undefined)
          .join(' ')}{' '}
        {problem !== undefined && <span class="bad">{problem}</span>}
      </small>
    </div>
  );
}

/** For on-screen keyboards. */
const MODES: Readonly<Record<string, 'email' | 'url'>> = { email: 'email', uri: 'url' };
