// Root keeps its rights in a plain sandbox, so the attacks run as root, too.
import { attackSuite } from './attack-suite.ts';

attackSuite({ asRoot: true });
