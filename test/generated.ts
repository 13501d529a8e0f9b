// fast-check with the same cases in every run: failures can be repeated, and no run fails by chance.
// FC_SEED=random (or a number) selects other cases; a failure prints its seed.
import fc from 'fast-check';

const { FC_SEED } = process.env;
if (FC_SEED !== 'random') fc.configureGlobal({ seed: Number(FC_SEED ?? 20_261_116) });

export default fc;
