// Which sites a rule is for.
import { Show, type JSX } from 'solid-js';
import { createQuery } from '../../client/query.js';
import { CheckList } from '../../kit/fields/check-list.js';
import { conditionsText as text } from '../../texts/rules/conditions.js';

/** Not shown where there is one site, unless the rule names some: those that are gone have to be seen. */
export function RuleSites(props: {
  readonly chosen: readonly string[];
  readonly isDisabled: boolean;
  readonly onChange: (chosen: string[]) => void;
}): JSX.Element {
  const sites = createQuery('GET /api/sites');
  const names = (): string[] => [...new Set([...(sites.data()?.items ?? []).map(({ name }) => name), ...props.chosen])];
  return (
    <Show when={names().length > 1 || props.chosen.length > 0}>
      <CheckList
        label={text.sites}
        help={text.sitesHelp}
        choices={names().map((name) => ({ value: name, title: name }))}
        chosen={props.chosen}
        isDisabled={props.isDisabled}
        onChange={(chosen) => props.onChange([...chosen])}
      />
    </Show>
  );
}
