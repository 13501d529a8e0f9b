import { attackSuite } from './attack-suite.ts';

attackSuite({ asRoot: false });
