// Programs that search for files by name and metadata.
import type { Program } from '../program.ts';
import { flags, LISTED_FILES } from './flags.ts';
import { optionList } from './option-list.ts';

const NAMES_HERE = [{ kind: 'names', path: '.' }] as const;
const FILE_TYPES = 'one:b,c,d,p,f,l,s,D';

export const FIND_PROGRAMS: readonly Program[] = [
  {
    name: 'find',
    manual: 'find(1), findutils 4.9',
    parse: 'find',
    options: {
      ...flags('-P, -H, -d, -depth, -daystart, -help, --help, -ignore_readdir_race, -mount, -noignore_readdir_race, -noleaf, -warn'),
      ...flags('-nowarn, -version, --version, -xdev, -empty, -executable, -false, -nogroup, -nouser, -readable, -true, -writable'),
      ...flags('-ls, -print, -print0, -prune, -quit, -a, -and, -o, -or, -not'),
      ...flags('-O0, -O1, -O2, -O3'),
      ...optionList({
        'sets:follows': '-L, -follow',
        number: '-maxdepth=, -mindepth=, -amin=, -atime=, -cmin=, -ctime=, -mmin=, -mtime=, -gid=, -inum=, -links=, -size=, -uid=, -used=',
        pattern: `-name=, -iname=, -path=, -ipath=, -wholename=, -iwholename=, -regex=, -iregex=, -lname=, -ilname=, -context=`,
        date: '-newermt=, -newerat=, -newerct=, -newerBt=',
        names: '-newer=, -anewer=, -cnewer=, -samefile=, -newermm=, -neweraa=, -newercc=',
        text: '-fstype=, -group=, -user=, -perm=, -printf=, -D=',
        command: '-exec=, -execdir=, -ok=, -okdir=',
        write: '-fls=, -fprint=, -fprint0=',
        delete: '-delete',
        'one:emacs,posix-awk,posix-basic,posix-egrep,posix-extended,awk,ed,egrep,findutils-default,gnu-awk,grep,sed,posix-minimal-basic':
          '-regextype=',
      }),
      '-type=': FILE_TYPES,
      '-xtype=': FILE_TYPES,
      '-fprintf=': ['write', 'text'],
      '-files0-from=': LISTED_FILES,
    },
    operands: [{ rest: 'names', none: NAMES_HERE }],
    walks: ['hidden', 'ignored'],
    ambient: ['FIND_BLOCK_SIZE', 'POSIXLY_CORRECT'],
  },
  {
    name: 'fd',
    manual: 'fd(1), fd 8.6',
    parse: 'exact',
    aliases: ['fdfind'],
    options: {
      ...flags('-s --case-sensitive, -i --ignore-case, -g --glob, --regex, -F --fixed-strings, -a --absolute-path, --relative-path'),
      ...flags('-p --full-path, -0 --print0, --prune, -1, -q --quiet, --has-results, --show-errors, --strip-cwd-prefix'),
      ...flags('--one-file-system --mount --xdev, -h --help, -V --version, --no-hidden, --ignore, --ignore-vcs'),
      ...flags('--no-follow'),
      '-H --hidden': 'sets:hidden',
      '-I --no-ignore': 'sets:ignored',
      '--no-ignore-vcs': 'sets:ignored',
      '--no-ignore-parent': 'sets:ignored',
      '--no-global-ignore-file': 'sets:ignored',
      '-u --unrestricted': 'sets:hidden',
      '-L --follow --dereference': 'sets:follows',
      '--and=': 'pattern',
      '-l --list-details': 'unclear:runs ls',
      '-d --max-depth --maxdepth=': 'number',
      '--min-depth=': 'number',
      '--exact-depth=': 'number',
      '-E --exclude=': 'pattern',
      '-t --type=': 'one:f,file,d,directory,l,symlink,s,socket,p,pipe,x,executable,e,empty',
      '-e --extension=': 'text',
      '-S --size=': 'text',
      '--changed-within --change-newer-than --newer --changed-after=': 'text',
      '--changed-before --change-older-than --older=': 'text',
      '-o --owner=': 'text',
      '-x --exec=': 'command',
      '-X --exec-batch=': 'command',
      '--batch-size=': 'number',
      '--ignore-file=': 'read',
      '-c --color=': 'one:auto,always,never',
      '-j --threads=': 'number',
      '--max-results=': 'number',
      '--base-directory=': 'enter',
      '--path-separator=': 'text',
      '--search-path=': 'names',
    },
    widens: { '-u': ['ignored'] },
    operands: [{ first: ['pattern'], rest: 'names', none: NAMES_HERE }],
    unasked: [
      { kind: 'read', path: '$repository/.gitignore' },
      { kind: 'read', path: '~/.config/fd/ignore' },
    ],
    ambient: ['LS_COLORS'],
  },
];
