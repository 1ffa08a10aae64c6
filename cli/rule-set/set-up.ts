// The last step of the set-up: the rules, where this deployment keeps them.
import { formatNotice, noticeOf } from '#compiler';
import { adoptDirectories, readEnvironment } from '../environment/read-environment.js';
import { tellRefusals } from '../refusal.js';
import { installCrs } from './install.js';
import type { Say } from './lock.js';

export interface SetUpOptions {
  /** Whether `.env` and its directories count; else those of the environment alone. */
  readonly isForDeployment: boolean;
  readonly say: Say;
}

/** Resolves with an exit code; what is wrong has been said then. */
export function setUpRuleSet({ isForDeployment, say }: SetUpOptions): Promise<number> {
  return tellRefusals('setup', async () => {
    if (isForDeployment) adoptDirectories(readEnvironment());
    const found = await installCrs({ say: (text) => say(`rules: ${text}`) });
    say(`rules: ${formatNotice(noticeOf(found.directory))}`);
    return 0;
  });
}
