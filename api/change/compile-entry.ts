// What the compile process runs first, so that loading the compiler gives way to others already. Started by
// compile-child.ts.
import { endWithParent, giveWay } from './give-way.js';

giveWay();
endWithParent();
await import('./compile-process.js');
