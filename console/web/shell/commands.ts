// What the command palette knows: pages, what is often done, and every setting by its name; each as far as the role of
// who is logged in reaches.
import { logOut, mayAs, type Role } from '../client/session.js';
import { shellText as text } from '../texts/shell.js';
import { allEntries } from './nav/navigation.js';
import { tabsOf } from './nav/place.js';
import { toggleTheme } from './theme.js';

export interface Command {
  readonly title: string;
  readonly group: string;
  readonly words: string;
  run(): void;
}

interface Action {
  readonly title: string;
  readonly words: string;
  readonly role: Role;
  run(): void;
}

export interface CommandTools {
  navigate(path: string): void;
  showKeys(): void;
}

const action = (title: string, words: string, role: Role, run: () => void): Action => ({ title, words, role, run });

/** Pages and actions that this role may use. */
export function commandsFor({ navigate, showKeys }: CommandTools): readonly Command[] {
  const to = (path: string) => () => navigate(path);
  const actions = [
    action(text.blockClient, text.blockClientWords, 'operator', to('/protection/addresses?add=1')),
    action(text.newCustomRule, text.newCustomRuleWords, 'operator', to('/waf/rules/new')),
    action(text.reviewApplyChanges, text.reviewApplyChangesWords, 'operator', to('/admin/changes')),
    action(text.newAssessment, text.newAssessmentWords, 'operator', to('/vulnerabilities/assessments?add=1')),
    action(text.newPolicy, text.newPolicyWords, 'operator', to('/vulnerabilities/policies?add=1')),
    action(text.newUser, text.newUserWords, 'admin', to('/admin/users?add=1')),
    action(text.newToken, text.newTokenWords, 'admin', to('/admin/tokens?add=1')),
    action(text.tryDemo, text.tryDemoWords, 'viewer', to('/demo')),
    action(text.keyboardHelp, text.keyboardHelpWords, 'viewer', showKeys),
    action(text.switchBetweenDarkLight, text.switchBetweenDarkLightWords, 'viewer', toggleTheme),
    action(text.logOut, text.logOutWords, 'viewer', () => void logOut()),
  ];
  return [
    ...allEntries.flatMap((entry) =>
      tabsOf(entry).map(({ title, words, path }) => ({
        ...{ title, words: `${words} ${entry.title}`, run: to(path) },
        group: entry.title === title ? text.page : entry.title,
      })),
    ),
    { title: text.myAccount, group: text.page, words: text.myAccountWords, run: to('/account') },
    ...actions.filter(({ role }) => mayAs(role)).map((one) => ({ ...one, group: text.do })),
  ];
}

/** Every setting that the control plane has; each opens where it is edited. */
export async function settingCommands(navigate: (path: string) => void): Promise<readonly Command[]> {
  const { readSettingPlaces } = await import('../pages/settings/places.js');
  return (await readSettingPlaces()).map(({ name, title, group, path }) => ({
    title: `${group}: ${title}`,
    group: text.setting,
    words: name,
    run: () => navigate(path),
  }));
}

/** Every word that was typed is in the title or beside it; those whose title begins so come first. */
export function findCommands(commands: readonly Command[], typed: string): readonly Command[] {
  const wanted = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = ({ title, words }: Command): boolean =>
    wanted.every((word) => `${title} ${words} ${words.replaceAll('_', ' ')}`.toLowerCase().includes(word));
  const rank = ({ title }: Command): number => (title.toLowerCase().startsWith(typed.trim().toLowerCase()) ? 0 : 1);
  return commands.filter(fits).sort((a, b) => rank(a) - rank(b));
}
