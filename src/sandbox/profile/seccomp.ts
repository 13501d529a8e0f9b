// A seccomp filter as bytes: no sockets but those of the network, no keyrings, no namespaces for control groups, in which a process could mount
// them and stop others, and no io_uring, which would bypass the filter.

/** `AUDIT_ARCH_*` and the numbers of the system calls, as Node names the architectures. */
const ARCHITECTURES = {
  x64: { audit: 0xc000003e, socket: 41, clone: 56, unshare: 272, addKey: 248, requestKey: 249, keyctl: 250 },
  arm64: { audit: 0xc00000b7, socket: 198, clone: 220, unshare: 97, addKey: 217, requestKey: 218, keyctl: 219 },
} as const;
const IO_URING_SETUP = 425; // on every architecture
// Its flags are in memory, where the filter cannot look. C libraries fall back to clone.
const CLONE3 = 435;
const CLONE_NEWCGROUP = 0x02000000;

const AF_UNIX = 1;
const AF_INET = 2;
const AF_INET6 = 10;
const AF_NETLINK = 16; // for the list of network interfaces

const [LOAD, JUMP_EQUAL, JUMP_SET, RETURN] = [0x20, 0x15, 0x45, 0x06];
const [NUMBER, ARCHITECTURE, FIRST_ARGUMENT] = [0, 4, 16];
const ALLOW = 0x7fff0000;
const refuse = (errno: number): number => 0x00050000 | errno;
const [EPERM, ENOSYS, EACCES] = [1, 38, 13];
const X32_BIT = 0x40000000;

type Step = readonly [code: number, jumpTrue: number, jumpFalse: number, value: number];

/** Undefined for an architecture whose numbers are not known here. */
export function seccompFilter(architecture: string, { allowsUnix }: { readonly allowsUnix: boolean }): Buffer | undefined {
  const numbers = Object.hasOwn(ARCHITECTURES, architecture) ? ARCHITECTURES[architecture as keyof typeof ARCHITECTURES] : undefined;
  if (!numbers) return undefined;
  const families = [AF_INET, AF_INET6, AF_NETLINK, ...(allowsUnix ? [AF_UNIX] : [])];
  // A program for another architecture has other numbers: none of it runs.
  const steps: Step[] = [
    [LOAD, 0, 0, ARCHITECTURE],
    [JUMP_EQUAL, 1, 0, numbers.audit],
    [RETURN, 0, 0, refuse(ENOSYS)],
    [LOAD, 0, 0, NUMBER],
  ];
  if (architecture === 'x64') steps.push([JUMP_SET, 0, 1, X32_BIT], [RETURN, 0, 0, refuse(ENOSYS)]);
  const refused = (number: number, errno: number) => steps.push([JUMP_EQUAL, 0, 1, number], [RETURN, 0, 0, refuse(errno)]);
  refused(IO_URING_SETUP, ENOSYS);
  refused(CLONE3, ENOSYS);
  for (const number of [numbers.addKey, numbers.requestKey, numbers.keyctl]) refused(number, EPERM);
  for (const number of [numbers.clone, numbers.unshare])
    steps.push(
      [JUMP_EQUAL, 0, 4, number],
      [LOAD, 0, 0, FIRST_ARGUMENT],
      [JUMP_SET, 0, 1, CLONE_NEWCGROUP],
      [RETURN, 0, 0, refuse(EPERM)],
      [RETURN, 0, 0, ALLOW],
    );
  steps.push([JUMP_EQUAL, 1, 0, numbers.socket], [RETURN, 0, 0, ALLOW], [LOAD, 0, 0, FIRST_ARGUMENT]);
  for (const family of families) steps.push([JUMP_EQUAL, 0, 1, family], [RETURN, 0, 0, ALLOW]);
  steps.push([RETURN, 0, 0, refuse(EACCES)]);
  return Buffer.concat(steps.map(instruction));
}

/** `struct sock_filter`, little-endian like both architectures. */
function instruction([code, jumpTrue, jumpFalse, value]: Step): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(jumpTrue, 2);
  bytes.writeUInt8(jumpFalse, 3);
  bytes.writeUInt32LE(value, 4);
  return bytes;
}
