import { runListenerContract } from './listener.contract.js';

runListenerContract('uws');
