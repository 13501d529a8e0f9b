// Root mounts its layers without a user namespace.
import { hostileSuite } from './hostile-suite.ts';

hostileSuite({ asRoot: true });
