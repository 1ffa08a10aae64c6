// What the compile process runs first, so that loading the compiler gives way to others already. Started by
// compile-child.ts.
import type { CompileStart } from './compile-messages.js';
import { endWithParent, giveWay } from '../processes/give-way.js';

const { keepsPriority = false } = JSON.parse(process.argv[2] ?? '') as CompileStart;
if (!keepsPriority) giveWay();
endWithParent();
await import('./compile-process.js');
