// Access to the console. A link is valid for one exchange. It yields a cookie, which the browser sends by itself, and a page key, which
// only our page knows: with the cookie alone, any page on another port of this machine could act for the user.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

export type Credentials = { readonly cookie: string; readonly pageKey: string };

export type Keys = {
  /** Creates the token of a new link. */
  issue(): string;
  /** Undefined when the token is unknown or was used. */
  redeem(token: string): Credentials | undefined;
  hasCookie(cookie: string): boolean;
  /** Both must belong together. */
  admits(cookie: string, pageKey: string): boolean;
  /** Counts a failed attempt. Returns whether there were too many in the last minute. */
  failed(): boolean;
};

const MAX_FAILURES_PER_MINUTE = 20;
const MAX_ADMITTED = 64;
const MAX_LINKS = 16;

const secret = (): string => randomBytes(32).toString('base64url');
const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
/** Constant-time comparison. */
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
