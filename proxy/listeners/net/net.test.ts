import { runListenerContract } from '../contract/listener.contract.js';

runListenerContract('net');
