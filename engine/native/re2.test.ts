import t from 'tap';
import { runMatcherContract } from './matcher.contract.js';
import { re2Library } from './re2.js';

runMatcherContract(t, { create: re2Library, skip: [] });
