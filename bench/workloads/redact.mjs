// Redacts a megabyte of text before it reaches a log: without secrets, which is the usual case, and with one in every kilobyte.
import { load, timed } from '../lib/in-process.mjs';

const LINE = '  const items = list.filter((item) => item.name !== "" && item.size > 0); // keep what is left of them\n';

export default {
  name: 'redact',
  title: 'Redaction: 1 MB of text, 20 known secrets',
  metrics: { ms: { title: 'CPU ms/MB', digits: 1 } },
  async measure({ isShort, workDir }) {
    const { createRedactor } = await load(workDir, { createRedactor: 'redaction/redact.ts' });
    const secrets = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`SECRET_${n}`, `s3cr3t-value-number-${n}-of-twenty`]));
    const redact = createRedactor(secrets);
    const clean = LINE.repeat(Math.ceil(2 ** 20 / LINE.length));
    const dirty = `${LINE.repeat(10)}key=${secrets.SECRET_7} Bearer ${'x'.repeat(40)}\n`.repeat(2 ** 10).slice(0, 2 ** 20);
    if (redact(clean) !== clean || redact(dirty).includes(secrets.SECRET_7)) throw new Error('the redactor does not work');
    const time = (text) => {
      const { best, median, n } = timed(() => redact(text), { rounds: isShort ? 3 : 10, callsPerRound: 2 });
      return { ms: { best: best / 1000, median: median / 1000, n } };
    };
    return { clean: time(clean), dirty: time(dirty) };
  },
};
