// Who may come in. A link is good for one exchange; what it is exchanged for is a cookie, which a browser sends by itself, and a word that
// only our own page can know: a cookie alone would let any page on another port of this machine speak for the user.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

export type Guest = { readonly cookie: string; readonly word: string };

export type Keys = {
  /** A new link's token. */
  issue(): string;
  /** Undefined when the token is none of ours, or was used. */
  redeem(token: string): Guest | undefined;
  hasCookie(cookie: string): boolean;
  /** Both, and of the same guest. */
  admits(cookie: string, word: string): boolean;
  /** Somebody guessed wrong; whether it was too often lately. */
  failed(): boolean;
};

const MAX_FAILURES_PER_MINUTE = 20;
const MAX_GUESTS = 64;
const MAX_LINKS = 16;

const secret = (): string => randomBytes(32).toString('base64url');
const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
/** In a time that says nothing about where they differ. */
const isSame = (a: Buffer, b: Buffer): boolean => timingSafeEqual(a, b);

export function createKeys(now: () => number): Keys {
  let links: Buffer[] = [];
  let guests: { readonly cookie: Buffer; readonly word: Buffer }[] = [];
  let failures: number[] = [];
  return {
    issue() {
      const token = secret();
      links = [...links, digest(token)].slice(-MAX_LINKS);
      return token;
    },
    redeem(token) {
      const given = digest(token);
      const left = links.filter((link) => !isSame(link, given));
      if (left.length === links.length) return undefined;
      links = left;
      const guest = { cookie: secret(), word: secret() };
      guests = [...guests, { cookie: digest(guest.cookie), word: digest(guest.word) }].slice(-MAX_GUESTS);
      return guest;
    },
    hasCookie(cookie) {
      const given = digest(cookie);
      return guests.some((guest) => isSame(guest.cookie, given));
    },
    admits(cookie, word) {
      const [its, said] = [digest(cookie), digest(word)];
      return guests.some((guest) => isSame(guest.cookie, its) && isSame(guest.word, said));
    },
    failed() {
      failures = [...failures.filter((at) => now() - at < 60_000), now()].slice(-MAX_FAILURES_PER_MINUTE - 1);
      return failures.length > MAX_FAILURES_PER_MINUTE;
    },
  };
}
