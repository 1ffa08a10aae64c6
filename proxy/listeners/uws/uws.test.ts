import t from 'tap';
import { chooseListener } from '../index.js';
import { runListenerContract } from '../contract/listener.contract.js';

// `auto` is what most people run; it must never choose a listener that cannot work here.
const { kind, why } = chooseListener('auto');
if (kind === 'uws') runListenerContract('uws');
else t.test('uws', { skip: why }, () => {});
