// Keeps the policy bundle of a host current: takes it from the bus, watches for newer ones, and says when there is none to obey.
import type { Bus, Directory } from '../bus.ts';
import { type BusClock, every } from '../clock.ts';
import { type Accepted, accept, type Pinned, shown } from './accept.ts';
import type { SignedBundle } from './bundle.ts';
import { BUNDLE_KEY } from './publish-bundle.ts';
import type { SeenVersions } from './seen-version.ts';

export type FollowOptions = {
  readonly bus: Bus;
  /** The directory with the bundle. */
  readonly directory: string;
  readonly pinned: Pinned;
  readonly seen: SeenVersions;
  readonly clock: BusClock;
  /** Since 1970, for the ages of bundles. */
  readonly now: () => number;
  /** Rejects if its policies cannot be used; the result puts them in force. */
  readonly prepare: (bundle: SignedBundle) => Promise<() => void>;
  /** From now on there is no bundle to obey, or there is one again. */
  readonly changed: () => void;
  readonly report: (text: string) => void;
};

export type FollowedBundle = {
  /** The bundle in force; undefined if there is none, or if it has expired. */
  current(): Accepted | undefined;
  /** Why there is none. */
  problem(): string | undefined;
  stop(): void;
};

const LOOK_EVERY_MS = 1000;
/** Besides the watch, which may miss a change while the connection is lost. */
const FETCH_EVERY_MS = 30_000;
const PUBLISH = 'switchboard policy bundle publish FILE --bus URL';

/** Resolves when the bundle that is on the bus now has been looked at. */
export async function followBundle(options: FollowOptions): Promise<FollowedBundle> {
  const { bus, pinned, seen, clock, now, prepare, report } = options;
  const directory: Directory = await bus.directory(options.directory);
  /** `until` is monotonic: a wall clock that is set back does not make a bundle younger. */
  let held: { readonly accepted: Accepted; readonly until: number; readonly bytes: Buffer } | undefined;
  let refusal: string | undefined;
  let isWarned = false;
  let wasInForce = false;
  let reading: Promise<void> = Promise.resolve();

  const isInForce = (): boolean => held !== undefined && now() < held.accepted.expiresAtMs && clock.monotonicMs() < held.until;
  function problem(): string | undefined {
    if (isInForce()) return undefined;
    const ended = held && `policy bundle ${held.accepted.bundle.version} expired at ${shown(held.accepted.expiresAtMs)}`;
    const cause = [ended, refusal].filter((one) => one !== undefined).join(', and ');
    return cause === '' ? `there is no policy bundle on the bus; publish one: ${PUBLISH}` : `${cause}; publish a newer one: ${PUBLISH}`;
  }
  async function consider(bytes: Buffer): Promise<void> {
    if (held?.bytes.equals(bytes)) {
      refusal = undefined;
      return;
    }
    try {
      const found = accept(bytes, pinned, seen.highest(), now());
      if ('why' in found) return refuse(found.why);
      const { bundle, expiresAtMs } = found;
      const putInForce = await prepare(bundle);
      seen.raise({ version: bundle.version, sha256: bundle.sha256 });
      putInForce();
      held = { accepted: found, until: clock.monotonicMs() + (expiresAtMs - now()), bytes };
      refusal = undefined;
      isWarned = false;
      report(`policy bundle ${bundle.version} is in force until ${shown(expiresAtMs)}`);
      look();
    } catch (error) {
      refuse((error as Error).message);
    }
  }
  function refuse(why: string): void {
    if (refusal === why) return;
    refusal = why;
    const then =
      isInForce() && held
        ? `bundle ${held.accepted.bundle.version} stays in force until ${shown(held.accepted.expiresAtMs)}`
        : 'this host accepts no sessions';
    report(`${why}; ${then}`);
  }
  function look(): void {
    const isThere = isInForce();
    if (isThere && held && !isWarned && isNearItsEnd(held.accepted, now())) {
      isWarned = true;
      report(
        `policy bundle ${held.accepted.bundle.version} expires at ${shown(held.accepted.expiresAtMs)}; publish a newer one: ${PUBLISH}`,
      );
    }
    if (isThere === wasInForce) return;
    wasInForce = isThere;
    if (!isThere) report(`this host accepts no sessions: ${problem()}`);
    options.changed();
  }
  function read(bytes: Buffer | undefined): void {
    if (bytes) reading = reading.then(() => consider(bytes));
  }
  const fetch = () =>
    void directory.get(BUNDLE_KEY).then(
      (entry) => read(entry?.value),
      () => {},
    ); // the bus is away: again later
  const stops = [
    await directory.watch(({ key, value }) => void (key === BUNDLE_KEY && read(value))),
    every(clock, LOOK_EVERY_MS, look),
    every(clock, FETCH_EVERY_MS, fetch),
  ];
  await reading;
  if (!isInForce() && refusal === undefined) report(`this host accepts no sessions: ${problem()}`);
  return {
    current: () => (isInForce() ? held?.accepted : undefined),
    problem,
    stop() {
      for (const stop of stops) stop();
    },
  };
}

/** A quarter of its life is left. */
const isNearItsEnd = ({ bundle, expiresAtMs }: Accepted, now: number): boolean => (expiresAtMs - now) * 4 < expiresAtMs - bundle.issuedAtMs;
