// Programs that pack and unpack archives.
import type { Program } from '../program.ts';
import { flags, optionList } from './option-list.ts';

const COMPRESSORS = ['gzip', 'bzip2', 'xz', 'zstd', 'lzip', 'lzma', 'lzop', 'compress', 'sh'] as const;
const SELECTS = { '-x': { write: 'read' }, '-t': { write: 'read' }, '-d': { write: 'read' } } as const;

export const ARCHIVE_PROGRAMS: readonly Program[] = [
  {
    name: 'tar',
    manual: 'tar(1), GNU tar 1.34',
    parse: 'tar',
    options: {
      ...flags(
        '-A --catenate --concatenate, -c --create, --delete, -d --diff --compare, -r --append, --test-label, -t --list, -u --update',
      ),
      ...flags('-x --extract --get, --check-device, --no-check-device, -G --incremental, --ignore-failed-read, --no-seek, -n --seek'),
      ...flags('-S --sparse, --exclude-backups, --exclude-caches, --exclude-caches-all, --exclude-caches-under, --exclude-vcs'),
      ...flags('--exclude-vcs-ignores, --no-null, --no-recursion, --no-unquote, --no-verbatim-files-from, --null, --recursion'),
      ...flags('--unquote, --verbatim-files-from, --anchored, --ignore-case, --no-anchored, --no-ignore-case, --no-wildcards'),
      ...flags('--no-wildcards-match-slash, --wildcards, --wildcards-match-slash, --keep-newer-files, -k --keep-old-files'),
      ...flags('--no-overwrite-dir, --overwrite, --overwrite-dir, --skip-old-files, -U --unlink-first'),
      '-W --verify': 'unclear:reads the files that the archive names',
      ...flags('--ignore-command-error, --no-ignore-command-error, -O --to-stdout, --clamp-mtime, --delay-directory-restore'),
      ...flags('-m --touch, --no-delay-directory-restore, --no-same-owner, --no-same-permissions, --numeric-owner'),
      ...flags('-p --preserve-permissions --same-permissions, --same-owner, -s --preserve-order --same-order, --acls, --no-acls'),
      ...flags('--no-selinux, --no-xattrs, --selinux, --xattrs, --force-local, -B --read-full-records'),
      ...flags('-i --ignore-zeros, --old-archive --portability, --posix, -a --auto-compress, -j --bzip2, -J --xz, --lzip, --lzma'),
      ...flags('--lzop, --no-auto-compress, --zstd, -z --gzip --gunzip --ungzip, -Z --compress --uncompress, --hard-dereference'),
      ...flags('--one-file-system, --full-time, -l --check-links, -R --block-number, --show-defaults, --show-omitted-dirs'),
      ...flags('--show-snapshot-field-ranges, --show-transformed-names --show-stored-names, --utc, -v --verbose'),
      ...flags('-w --interactive --confirmation, -o, -? --help, --restrict, --usage, --version'),
      // Written unless a mode in `turns` only reads it.
      '-f --file=': 'write',
      '-C --directory=': 'enter',
      '-h --dereference': 'sets:follows',
      '--add-file=': 'walk',
      ...optionList({
        number: `
          --level=, --occurrence[=], --sparse-version=, -b --blocking-factor=, --record-size=, --strip-components=,
          --checkpoint[=]`,
        pattern: '--exclude=, --xattrs-exclude=, --xattrs-include=, -K --starting-file=',
        text: `
          --exclude-ignore=, --exclude-ignore-recursive=, --group=, --owner=,
          --mode=, -V --label=, --pax-option=, --suffix=, --no-quote-chars=, --quote-chars=, --totals[=], --warning=`,
        read: '-X --exclude-from=, --group-map=, --owner-map=',
        // A date, or a file whose date counts.
        names: '--mtime=, -N --newer --after-date=, --newer-mtime=',
        write: '--index-file=',
        modify: '-g --listed-incremental=, --volno-file=',
        run: '-F --info-script --new-volume-script=, --rmt-command=, --rsh-command=',
        'one:seek,raw': '--hole-detection=',
        'one:none,name,inode': '--sort=',
        'one:gnu,oldgnu,pax,posix,ustar,v7': '-H --format=',
        'one:none,off,numbered,t,existing,nil,simple,never': '--backup[=]',
        'one:literal,shell,shell-always,shell-escape,shell-escape-always,c,c-maybe,escape,locale,clocale': '--quoting-style=',
        'unclear:opens a file of that name in every directory, or at that path': '--exclude-tag=, --exclude-tag-all=, --exclude-tag-under=',
        'unclear:writes the times of the files that it reads': '--atime-preserve[=]',
        'unclear:its question for the next volume can be answered with a command': '-M --multi-volume, -L --tape-length=',
        'unclear:takes names and options from a file': '-T --files-from=',
        'unclear:runs a compression program': '-I --use-compress-program=',
        'unclear:runs a command for each file': '--to-command=',
        'unclear:can run a command': '--checkpoint-action=',
        'unclear:removes files': '--remove-files, --recursive-unlink',
        'unclear:unpacks outside of the directory': '-P --absolute-names, --keep-directory-symlink',
        'unclear:renames what it unpacks': '--transform --xform=, --one-top-level[=]',
      }),
    },
    operands: [
      { if: ['-t'], rest: 'pattern' },
      { if: ['-x'], rest: 'unpack', none: [{ kind: 'unpack', path: '.' }] },
      { if: ['-d'], unless: ['-C'], rest: 'walk', none: [{ kind: 'walk', path: '.' }] },
      { if: ['-d'], none: [{ kind: 'walk', path: '.' }] },
      { if: ['--delete'], rest: 'pattern' },
      { if: ['-A'], rest: 'read' },
      // -C counts from its word on, so operands in front of it are elsewhere.
      { unless: ['-C'], rest: 'walk' },
    ],
    turns: SELECTS,
    // Without -f the archive is a tape, or what TAPE names.
    needs: [
      ['-c', '-t', '-x', '-d', '-r', '-u', '-A', '--delete', '-?', '--version'],
      ['-f', '-?', '--version'],
    ],
    unasked: COMPRESSORS.map((program) => ({ kind: 'run', program }) as const),
    ambient: ['TAR_OPTIONS', 'TAPE', 'TAR_RSH', 'GZIP', 'XZ_OPT', 'XZ_DEFAULTS', 'POSIXLY_CORRECT'],
    walks: ['hidden', 'ignored'],
    isWriter: true,
  },
  {
    name: 'zip',
    manual: 'zip(1), Info-ZIP 3.0',
    // Options of two letters are missing on purpose, and no two letters below make one with an effect.
    parse: 'exact',
    options: {
      ...flags('-0 --store, -1 --compress-1, -2 --compress-2, -3 --compress-3, -4 --compress-4, -5 --compress-5, -6 --compress-6'),
      ...flags('-7 --compress-7, -8 --compress-8, -9 --compress-9, -D --no-dir-entries, -j --junk-paths, -q --quiet'),
      ...flags('-r --recurse-paths, -u --update, -v --verbose, -X --strip-extra, -y --symlinks, -h --help, --version'),
      '-x --exclude=': 'pattern',
      '-i --include=': 'pattern',
      '-Z --compression-method=': 'one:store,deflate,bzip2',
      '-s --split-size=': 'number',
      '-O --output-file=': 'write',
      '-b --temp-path=': 'write',
      '--logfile-path=': 'unclear:adds an ending to the name of the file',
      '--unzip-command=': 'run',
      '-T --test': 'unclear:runs unzip',
      '-m --move': 'unclear:removes the files it packs',
      '-d --delete': 'unclear:removes entries of the archive',
      '-R --recurse-patterns': 'unclear:takes patterns for files',
      '-@ --names-stdin': 'unclear:reads the files that a list names',
    },
    operands: [{ first: ['write'], rest: 'walk' }],
    ambient: ['ZIP', 'ZIPOPT'],
    walks: ['hidden', 'ignored', 'follows'],
    stdin: 'data',
    isWriter: true,
  },
  {
    name: 'unzip',
    manual: 'unzip(1), Info-ZIP 6.0',
    parse: 'exact',
    options: {
      ...flags('-Z, -c, -p, -l, -t, -v, -z, -f, -u, -a, -b, -C, -D, -j, -L, -n, -o, -q, -U, -h, -1, -2, -m, -s'),
      '-d=': 'unpack',
      // Takes all words that follow, the archive too.
      '-x=': 'unclear:takes the rest of the words',
      '-P=': 'text',
      '-K': 'unclear:restores set-user-id permissions',
      '-X': 'unclear:restores owners',
      '-T': 'unclear:changes the archive',
      '-M': 'unclear:asks on the terminal',
      '-:': 'unclear:unpacks outside of the directory',
      '-^': 'unclear:unpacks names with control characters',
    },
    // To unpack into the current directory, say `-d .`: an archive alone has no word for where the files go.
    needs: [['-Z', '-c', '-p', '-l', '-t', '-v', '-z', '-d', '-h']],
    operands: [{ first: ['read'], rest: 'pattern' }],
    ambient: ['UNZIP', 'UNZIPOPT', 'ZIPINFO', 'ZIPINFOOPT'],
    isWriter: true,
  },
];
