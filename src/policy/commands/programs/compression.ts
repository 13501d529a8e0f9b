// Programs that compress single files. Without -c, -l or -t they replace the file.
import type { Operands, Program } from '../program.ts';
import { flags, LISTED_FILES, optionList } from './option-list.ts';

const STORED_NAME = 'unclear:takes the name of the file it writes from the archive';
const BELOW = 'unclear:replaces everything below';
/** Of several modes the last one counts: `xz -t -z` compresses. */
const replaces = (looks: readonly string[], changes: readonly string[]): readonly Operands[] => [
  { if: ['-c'], rest: 'read' },
  { if: looks, unless: changes, rest: 'read' },
  { rest: 'modify' },
];
const READS: readonly Operands[] = [{ rest: 'read' }];

function family(names: readonly string[], program: Omit<Program, 'name'>): readonly Program[] {
  return names.map((name) => ({ name, ...program, ...(/cat$/.test(name) && { operands: READS, isWriter: undefined }) }) as Program);
}

const GZIP: Omit<Program, 'name'> = {
  manual: 'gzip(1), gzip 1.12',
  parse: 'gnu',
  options: {
    ...flags('-c --stdout --to-stdout, -d --decompress --uncompress, -f --force, -h --help, -k --keep, -l --list, -L --license'),
    ...flags('-n --no-name, -q --quiet, --rsyncable, --synchronous, -t --test, -v --verbose, -V --version, -1 --fast, -2, -3, -4, -5'),
    ...flags('-6, -7, -8, -9 --best'),
    '-N --name': STORED_NAME,
    '-r --recursive': BELOW,
    '-S --suffix=': 'text',
  },
  operands: replaces(['-l', '-t'], ['-d']),
  renames: { suffixes: ['.gz', '-gz', '.z', '-z', '_z'], option: '-S' },
  ambient: ['GZIP'],
  stdin: 'data',
  isWriter: true,
};

export const COMPRESSION_PROGRAMS: readonly Program[] = [
  ...family(['gzip'], GZIP),
  // Shell scripts around gzip.
  ...family(['gunzip', 'zcat'], { ...GZIP, unasked: [{ kind: 'run', program: 'gzip' }] }),
  ...family(['bzip2', 'bunzip2', 'bzcat'], {
    manual: 'bzip2(1), bzip2 1.0',
    parse: 'gnu',
    options: {
      ...flags('-h --help, -d --decompress, -z --compress, -k --keep, -f --force, -t --test, -c --stdout, -q --quiet, -v --verbose'),
      ...flags('-L --license, -V --version, -s --small, -1 --fast, -2, -3, -4, -5, -6, -7, -8, -9 --best'),
    },
    operands: replaces(['-t'], ['-z', '-d']),
    renames: { suffixes: ['.bz2', '.bz'] },
    ambient: ['BZIP', 'BZIP2'],
    stdin: 'data',
    isWriter: true,
  }),
  ...family(['xz', 'unxz', 'xzcat'], {
    manual: 'xz(1), XZ Utils 5.4',
    parse: 'gnu',
    options: {
      ...flags('-z --compress, -d --decompress --uncompress, -t --test, -l --list, -k --keep, -f --force, -c --stdout --to-stdout'),
      ...flags('--single-stream, --no-sparse, --ignore-check, -0, -1, -2, -3, -4, -5, -6, -7, -8, -9, -e --extreme, --no-adjust'),
      ...flags('-q --quiet, -v --verbose, -Q --no-warn, --robot, --info-memory, -h --help, -H --long-help, -V --version'),
      ...optionList({
        text: `
          -S --suffix=, --block-list=, --lzma1[=], --lzma2[=], --x86[=], --arm[=], --armthumb[=], --arm64[=], --powerpc[=], --ia64[=],
          --sparc[=], --delta[=]`,
        number: `
          -T --threads=, --block-size=, --flush-timeout=, --memlimit-compress=, --memlimit-decompress=, --memlimit-mt-decompress=,
          -M --memlimit --memory=`,
        'one:auto,xz,lzma,alone,lzip,raw': '-F --format=',
        'one:none,crc32,crc64,sha256': '-C --check=',
        [LISTED_FILES]: '--files[=], --files0[=]',
      }),
    },
    operands: replaces(['-l', '-t'], ['-z', '-d']),
    renames: { suffixes: ['.xz', '.lzma', '.lz'], option: '-S' },
    ambient: ['XZ_DEFAULTS', 'XZ_OPT'],
    stdin: 'data',
    isWriter: true,
  }),
  ...family(['zstd', 'unzstd', 'zstdcat'], {
    manual: 'zstd(1), zstd 1.5',
    parse: 'gnu',
    options: {
      '-f --force': 'unclear:it also follows links',
      ...flags('-k --keep, -d --decompress --uncompress, -h, -H --help, -V --version, -c --stdout, -v --verbose, -q --quiet'),
      ...flags('--progress, --no-progress, --asyncio, --no-asyncio, --check, --no-check, --ultra, --adapt, --single-thread, --rsyncable'),
      ...flags('--exclude-compressed, --no-dictID, --compress-literals, --no-compress-literals, --row-match-finder'),
      ...flags('--no-row-match-finder, -l --list, -t --test, --sparse, --no-sparse, --pass-through, --no-pass-through'),
      ...flags('-0, -1, -2, -3, -4, -5, -6, -7, -8, -9'),
      ...optionList({
        number: '--fast[=], --long[=], -T[=], -M[=], --stream-size=, --size-hint=, --target-compressed-block-size=',
        'one:zstd,gzip,xz,lzma,lz4': '--format=',
        'one:physical,logical': '--auto-threads=',
        read: '-D=, --patch-from=',
        write: '-o=, --output-dir-flat=, --output-dir-mirror=, --trace=',
        'unclear:removes the files it packs': '--rm',
        [LISTED_FILES]: '--filelist=',
        [BELOW]: '-r',
        'unclear:writes a dictionary': '--train, --train-cover[=], --train-fastcover[=], --train-legacy[=], --maxdict=, --dictID=',
        'unclear:measures its speed': '-b[=], -e[=], -i[=], -B[=], -S, --priority=',
      }),
    },
    operands: replaces(['-l', '-t'], ['-d']),
    renames: { suffixes: ['.zst', '.gz', '.xz', '.lzma', '.lz4'] },
    ambient: ['ZSTD_CLEVEL', 'ZSTD_NBTHREADS'],
    stdin: 'data',
    isWriter: true,
  }),
];
