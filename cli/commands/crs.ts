// `node bin/crs.mjs`: fetches the rule set, and says where it is as JSON.
import { tellRefusals } from '../refusal.js';
import { installCrs } from '../rule-set/install.js';

export function runCrs(): Promise<number> {
  return tellRefusals('crs', async () => {
    const found = await installCrs({ say: (text) => console.error(`crs: ${text}`) });
    console.log(JSON.stringify(found, null, 2));
    return 0;
  });
}
