// The load program for machines without a C compiler: the same arguments, frames and figures as load.c (its head explains them),
// except that its own cost is high enough to make every proxy look alike on small frames. There is no relay.
import { runAgent } from './lib/load-agent.mjs';
import { runClient } from './lib/load-client.mjs';

const [mode, ...args] = process.argv.slice(2);
if (mode === 'agent') runAgent(args[0]);
else if (mode === 'client') await runClient(args.slice(0, args.indexOf('--')), args.slice(args.indexOf('--') + 1));
else throw new Error('usage: load client|agent ...');
