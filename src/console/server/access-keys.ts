// Who may come in. A link is good for one exchange; what it is exchanged for is a cookie, which a browser sends by itself, and a word that
// only our own page can know: a cookie alone would let any page on another port of this machine speak for the user.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

export type Credentials = { readonly cookie: string; readonly pageKey: string };

export type Keys = {
  /** A new link's token. */
  issue(): string;
  /** Undefined when the token is none of ours, or was used. */
  redeem(token: string): Credentials | undefined;
  hasCookie(cookie: string): boolean;
  /** Both, and of the same guest. */
  admits(cookie: string, pageKey: string): boolean;
  /** Somebody guessed wrong; whether it was too often lately. */
  failed(): boolean;
};

const MAX_FAILURES_PER_MINUTE = 20;
const MAX_ADMITTED = 64;
const MAX_LINKS = 16;

const secret = (): string => randomBytes(32).toString('base64url');
const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
/** In a time that says nothing about where they differ. */
const isSame = (a: Buffer, b: Buffer): boolean => timingSafeEqual(a, b);

export function createKeys(now: () => number): Keys {
  let links: Buffer[] = [];
  let admitted: { readonly cookie: Buffer; readonly pageKey: Buffer }[] = [];
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
      const credentials = { cookie: secret(), pageKey: secret() };
      admitted = [...admitted, { cookie: digest(credentials.cookie), pageKey: digest(credentials.pageKey) }].slice(-MAX_ADMITTED);
      return credentials;
    },
    hasCookie(cookie) {
      const given = digest(cookie);
      return admitted.some((credentials) => isSame(credentials.cookie, given));
    },
    admits(cookie, pageKey) {
      const [cookieDigest, keyDigest] = [digest(cookie), digest(pageKey)];
      return admitted.some((credentials) => isSame(credentials.cookie, cookieDigest) && isSame(credentials.pageKey, keyDigest));
    },
    failed() {
      failures = [...failures.filter((at) => now() - at < 60_000), now()].slice(-MAX_FAILURES_PER_MINUTE - 1);
      return failures.length > MAX_FAILURES_PER_MINUTE;
    },
  };
}
