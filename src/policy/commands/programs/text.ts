// Programs that print or compare text.
import type { Program } from '../program.ts';

export const TEXT_PROGRAMS: readonly Program[] = [
  {
    name: 'cat',
    manual: 'cat(1), coreutils 9.1',
    parse: 'gnu',
    options: {
      '-A --show-all': 'none',
      '-b --number-nonblank': 'none',
      '-e': 'none',
      '-E --show-ends': 'none',
      '-n --number': 'none',
      '-s --squeeze-blank': 'none',
      '-t': 'none',
      '-T --show-tabs': 'none',
      '-u': 'none',
      '-v --show-nonprinting': 'none',
      '--help --version': 'none',
    },
    operands: [{ rest: 'read' }],
    stdin: 'data',
  },
];
