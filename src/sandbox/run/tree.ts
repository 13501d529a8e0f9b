// The process tree of a sandboxed command. TERM goes to the command and what it started: the sandbox itself would end at once and kill them.
import type { ChildProcess } from 'node:child_process';
import { here } from '../../platform/platform.ts';
import { membersOf } from '../../processes/process-table.ts';
import { type ProcessTree, treeOf } from '../../processes/process-tree.ts';

export function sandboxedTree(child: ChildProcess): ProcessTree {
  const tree = treeOf(child);
  const { pid } = child;
  if (pid === undefined || here.processes !== 'proc') return tree;
  return {
    isAlive: tree.isAlive,
    end(how) {
      if (how === 'kill') return tree.end(how);
      // bubblewrap is two processes: the one we started, and the first one in the namespace.
      const inside = membersOf(pid).filter((member) => member.pid !== pid && member.parent !== pid);
      if (inside.length === 0) return tree.end(how); // the command has not started yet
      for (const member of inside) signal(member.pid);
    },
  };
}

function signal(pid: number): void {
  try {
    process.kill(pid, 'SIGTERM');
  } catch {
    // It has already exited.
  }
}
