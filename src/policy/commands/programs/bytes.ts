// Programs that show bytes in another notation, and checksums.
import type { Program } from '../program.ts';
import { flags, HELP, LISTED_FILES } from './option-list.ts';

const CHECKS = {
  '-c --check': LISTED_FILES,
  ...flags('-z --zero, --tag, --ignore-missing, --quiet, --status, --strict, -w --warn'),
} as const;

export const BYTE_PROGRAMS: readonly Program[] = [
  {
    name: 'od',
    manual: 'od(1), coreutils 9.1',
    parse: 'gnu',
    options: {
      ...flags('-a, -b, -c, -d, -f, -i, -l, -o, -s, -x, -v --output-duplicates, --traditional'),
      '-A --address-radix=': 'one:d,o,x,n',
      '--endian=': 'one:big,little',
      '-j --skip-bytes=': 'number',
      '-N --read-bytes=': 'number',
      '-S=': 'number',
      '--strings[=]': 'number',
      '-t --format=': 'text',
      '-w[=] --width[=]': 'number',
      ...HELP,
    },
    operands: [{ rest: 'read' }],
    stdin: 'data',
  },
  {
    name: 'xxd',
    manual: 'xxd(1), xxd 2022-01-14',
    // Only the first letter of an option counts, a value is attached or the next word, and the first operand ends the options.
    parse: 'goflag',
    options: {
      ...flags('-a, -b, -C, -E, -e, -h, -i, -p -ps -postscript -plain, -r, -d, -u, -v'),
      '-c=': 'number',
      '-g=': 'number',
      '-l=': 'number',
      '-o=': 'number',
      '-s=': 'number',
      '-n=': 'text',
    },
    operands: [{ first: ['read', 'write'], max: 2 }],
    stdin: 'data',
  },
  {
    name: 'hexdump',
    manual: 'hexdump(1), util-linux 2.38',
    parse: 'gnu',
    aliases: ['hd'],
    options: {
      ...flags('-b --one-byte-octal, -c --one-byte-char, -C --canonical, -d --two-bytes-decimal, -o --two-bytes-octal'),
      ...flags('-x --two-bytes-hex, -v --no-squeezing, -h --help, -V --version'),
      '-L[=] --color[=]': 'one:auto,always,never',
      '-e --format=': 'text',
      '-f --format-file=': 'read',
      '-n --length=': 'number',
      '-s --skip=': 'number',
    },
    operands: [{ rest: 'read' }],
    stdin: 'data',
  },
  ...['base64', 'base32'].map(
    (name): Program => ({
      name,
      manual: `${name}(1), coreutils 9.1`,
      parse: 'gnu',
      options: { ...flags('-d --decode, -i --ignore-garbage'), '-w --wrap=': 'number', ...HELP },
      operands: [{ first: ['read'], max: 1 }],
      stdin: 'data',
    }),
  ),
  ...['md5sum', 'sha1sum', 'sha224sum', 'sha256sum', 'sha384sum', 'sha512sum'].map(
    (name): Program => ({
      name,
      manual: `${name}(1), coreutils 9.1`,
      parse: 'gnu',
      options: { ...CHECKS, ...flags('-b --binary, -t --text'), ...HELP },
      operands: [{ rest: 'read' }],
      stdin: 'data',
    }),
  ),
  {
    name: 'b2sum',
    manual: 'b2sum(1), coreutils 9.1',
    parse: 'gnu',
    options: { ...CHECKS, ...flags('-b --binary, -t --text'), '-l --length=': 'number', ...HELP },
    operands: [{ rest: 'read' }],
    stdin: 'data',
  },
  {
    name: 'cksum',
    manual: 'cksum(1), coreutils 9.1',
    parse: 'gnu',
    options: {
      ...CHECKS,
      '-a --algorithm=': 'one:sysv,bsd,crc,md5,sha1,sha224,sha256,sha384,sha512,blake2b,sm3',
      '-l --length=': 'number',
      ...flags('--untagged, --debug'),
      ...HELP,
    },
    operands: [{ rest: 'read' }],
    stdin: 'data',
  },
];
