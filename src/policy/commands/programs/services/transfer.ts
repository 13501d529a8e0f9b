// curl, wget, ssh, scp and rsync. Their configuration files and keys in the home directory are not stated: they show nothing of them.
import type { Program } from '../../program.ts';
import { optionList } from '../option-list.ts';

const REMOTE = 'unclear:runs or copies on another machine' as const;
const ROUTE = 'unclear:connects somewhere else than the address says' as const;

export const TRANSFER_PROGRAMS: readonly Program[] = [
  {
    name: 'curl',
    manual: 'curl(1), curl 7.88',
    parse: 'exact',
    options: optionList({
      none: `
        -s --silent, -S --show-error, -f --fail, --fail-with-body, -v --verbose, -k --insecure, -i --include, -I --head, -G --get,
        -g --globoff, -N --no-buffer, -4 --ipv4, -6 --ipv6, -0 --http1.0, --http1.1, --http2, --compressed, -# --progress-bar,
        --no-progress-meter, -V --version, -h --help, --retry-connrefused, --retry-all-errors, --tlsv1.2, --tlsv1.3, --raw,
        -j --junk-session-cookies, --path-as-is, --no-keepalive`,
      number:
        '-m --max-time=, --connect-timeout=, --retry=, --retry-delay=, --retry-max-time=, --max-redirs=, --limit-rate=, --max-filesize=',
      text: '-A --user-agent=, -e --referer=, -u --user=, -r --range=, --data-raw=, --oauth2-bearer=, --form-string=',
      'one:GET,HEAD,POST,PUT,PATCH,DELETE,OPTIONS': '-X --request=',
      // Other formats can read or write files.
      'one:%{http_code},%{http_code}\\n,\\n%{http_code},\\n%{http_code}\\n,%{response_code},%{time_total},%{time_total}\\n,%{content_type},%{redirect_url}':
        '-w --write-out=',
      data: '-d --data --data-ascii=, --data-binary=, --json=, -H --header=',
      form: '-F --form=',
      // A pattern of curl's stands for several files.
      'plain-file': '-T --upload-file=',
      read: '-b --cookie=, --key=, --cacert=, --netrc-file=',
      write: '-o --output=, -c --cookie-jar=, -D --dump-header=, --trace=, --trace-ascii=, --stderr=, --hsts=, --alt-svc=, --etag-save=',
      // A redirection leads anywhere.
      url: '-L --location, --location-trusted, --url=',
      'unclear:a file whose name the address or the server decides':
        '-O --remote-name, --remote-name-all, -J --remote-header-name, --output-dir=',
      'unclear:reads options from a file': '-K --config=, -q --disable',
      'unclear:reads a file or a text': '--data-urlencode=, --url-query=',
      'unclear:a file, and perhaps its password': '-E --cert=',
      'unclear:reads passwords in the home directory': '-n --netrc, --netrc-optional',
      [ROUTE]: `
        -x --proxy=, --preproxy=, --socks5=, --socks4=, --resolve=, --connect-to=, --unix-socket=, --abstract-unix-socket=, --interface=,
        --dns-servers=, --doh-url=, --proto=, --proto-redir=, --engine=, --libcurl=, -Q --quote=, -P --ftp-port=`,
    }),
    operands: [
      { if: ['-V', '-h'], max: 0 },
      { rest: 'url', min: 1 },
    ],
    unasked: [
      { kind: 'read', path: '~/.curlrc' },
      { kind: 'read', path: '~/.config/curlrc' },
    ],
    ambient: ['http_proxy', 'https_proxy', 'HTTPS_PROXY', 'ALL_PROXY', 'CURL_HOME', 'SSLKEYLOGFILE', 'CURL_CA_BUNDLE'],
  },
  {
    name: 'wget',
    manual: 'wget(1), GNU Wget 1.21',
    parse: 'gnu',
    options: optionList({
      none: '-q --quiet, -v --verbose, -nv --no-verbose, -S --server-response, --spider, -c --continue, -4 --inet4-only, -6 --inet6-only, --no-check-certificate, -V --version, -h --help',
      number: '-t --tries=, -T --timeout=, -w --wait=, --max-redirect=',
      text: '-U --user-agent=, --header=, --post-data=, --user=, --password=',
      read: '--post-file=, --body-file=, --ca-certificate=, --certificate=, --private-key=, --load-cookies=',
      write: '-O --output-document=, -o --output-file=, --save-cookies=',
      append: '-a --append-output=',
      'unclear:reads addresses or options from a file': '-i --input-file=, --config=, -e --execute=',
      'unclear:follows links of pages': '-r --recursive, -m --mirror, -p --page-requisites, -k --convert-links',
      'unclear:runs a program': '--use-askpass=',
    }),
    // Otherwise the address or the server decides the name of the file.
    needs: [['-O', '--spider', '-V', '-h']],
    operands: [
      { if: ['-V', '-h'], max: 0 },
      { rest: 'url', min: 1 },
    ],
    // A redirection leads anywhere.
    unasked: [
      { kind: 'connect' },
      { kind: 'write', path: '~/.wget-hsts' },
      // Once it has lost its terminal. Never an existing file.
      { kind: 'write', path: 'wget-log' },
      { kind: 'read', path: '~/.wgetrc' },
      { kind: 'read', path: '~/.netrc' },
      { kind: 'read', path: '/etc/wgetrc' },
    ],
    ambient: ['http_proxy', 'https_proxy', 'WGETRC', 'SYSTEM_WGETRC'],
  },
  {
    name: 'ssh',
    manual: 'ssh(1), OpenSSH 9.2',
    parse: 'posix',
    options: optionList({
      none: '-V, -q, -v, -4, -6, -T',
      number: '-p=',
      [REMOTE]: '-o=, -F=, -J=, -L=, -R=, -D=, -W=, -i=, -l=, -A, -N, -f, -t, -E=, -S=, -w=',
    }),
    operands: [
      { if: ['-V'], max: 0 },
      { first: ['host'], rest: REMOTE, min: 2 },
    ],
  },
  {
    name: 'scp',
    manual: 'scp(1), OpenSSH 9.2',
    parse: 'posix',
    options: optionList({ none: '-r, -p, -q, -v, -C, -4, -6', number: '-P=, -l=', [REMOTE]: '-S=, -o=, -F=, -i=, -J=, -D=, -T' }),
    operands: [{ rest: REMOTE }],
  },
  {
    name: 'rsync',
    manual: 'rsync(1), rsync 3.5',
    parse: 'gnu',
    options: optionList({
      none: `
        -a --archive, -v --verbose, -q --quiet, -r --recursive, -n --dry-run, -z --compress, -h --human-readable, -P, --progress, --partial,
        -u --update, -t --times, -p --perms, -o --owner, -g --group, -l --links, -i --itemize-changes, -c --checksum, --stats,
        -x --one-file-system, -W --whole-file, --ignore-existing, --existing, -m --prune-empty-dirs`,
      pattern: '--exclude=, --include=, --info=, --max-size=, --min-size=',
      read: '--exclude-from=, --include-from=',
      'sets:follows': '-L --copy-links, -k --copy-dirlinks',
      'unclear:deletes files': '--delete, --delete-after, --delete-excluded, --remove-source-files, --delete-before, --del',
      'unclear:reads rules or names from files': '-f --filter=, -F, -C --cvs-exclude, --files-from=',
      'unclear:runs a program': '-e --rsh=, --rsync-path=, --daemon, --config=, -M --remote-option=',
      write: '--log-file=, --backup-dir=, -T --temp-dir=, --partial-dir=',
    }),
    // `host:path` and `rsync://` are other machines.
    operands: [
      { if: ['-n'], rest: 'walk', match: '^[^:]*$', min: 1 },
      { last: ['unpack'], rest: 'walk', match: '^[^:]*$', min: 2 },
    ],
    walks: ['hidden', 'ignored'],
    ambient: ['RSYNC_RSH', 'RSYNC_CONNECT_PROG'],
    isWriter: true,
  },
];
