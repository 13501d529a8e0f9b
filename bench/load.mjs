// The load program for machines without a C compiler: the same words, the same frames, the same figures as load.c (whose head explains them),
// except that its own cost is high enough to make every proxy look alike on small frames. There is no relay.
import { runAgent } from './lib/load-agent.mjs';
import { runClient } from './lib/load-client.mjs';

const [mode, ...words] = process.argv.slice(2);
if (mode === 'agent') runAgent(words[0]);
else if (mode === 'client') await runClient(words.slice(0, words.indexOf('--')), words.slice(words.indexOf('--') + 1));
else throw new Error('usage: load client|agent ...');
