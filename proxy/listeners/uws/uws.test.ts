import t from 'tap';
import { whyUnavailable } from '../index.js';
import { runListenerContract } from '../contract/listener.contract.js';

const why = whyUnavailable('uws');
if (why === null) runListenerContract('uws');
else t.test('uws', { skip: why }, () => {});
