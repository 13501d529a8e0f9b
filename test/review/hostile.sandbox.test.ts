import { hostileSuite } from './hostile-suite.ts';

hostileSuite({ asRoot: false });
