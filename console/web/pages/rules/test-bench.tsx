import { For, Index, Show, type JSX } from 'solid-js';
import type { Reply } from '../../client/http.js';
import { Badge, Button } from '../../kit/basics.js';
import { blankTest, type RuleTest } from './rule.js';
import { rulesText as text } from '../../texts/rules/rules.js';

export type Tried = Reply<'POST /api/rules/test'>;

/** Requests that the rule has to match, and ones that it must not: they run at each save and before each apply. */
export function TestBench(props: {
  readonly tests: readonly RuleTest[];
  readonly tried: Tried | null;
  readonly isDisabled: boolean;
  readonly onChange: (tests: readonly RuleTest[]) => void;
}): JSX.Element {
  const change = (index: number, part: Partial<RuleTest>): void =>
    props.onChange(props.tests.map((one, at) => (at === index ? { ...one, ...part } : one)));
  return (
    <div class="stack tight">
      <Show when={props.tests.length === 0}>
        <p class="muted">{text.testsAbout}</p>
      </Show>
      <Index each={props.tests}>
        {(test, index) => {
          const result = (): Tried['tests'][number] | undefined => props.tried?.tests[index];
          return (
            <div class="row wrap">
              <select
                class="select fit"
                aria-label={text.expected}
                disabled={props.isDisabled}
                onChange={(event) => change(index, { expect: event.currentTarget.value as RuleTest['expect'] })}
              >
                <For each={['match', 'no_match'] as const}>
                  {(name) => (
                    <option value={name} selected={test().expect === name}>
                      {name === 'match' ? 'matches' : text.doesNotMatch}
                    </option>
                  )}
                </For>
              </select>
              <input
                class="input short"
                aria-label={text.method}
                value={test().method}
                disabled={props.isDisabled}
                onInput={(event) => change(index, { method: event.currentTarget.value })}
              />
              <input
                class="input mono grow"
                aria-label={text.requestTarget}
                value={test().uri}
                disabled={props.isDisabled}
                onInput={(event) => change(index, { uri: event.currentTarget.value })}
              />
              <input
                class="input mono grow"
                aria-label={text.body2}
                placeholder={text.body}
                value={test().body}
                disabled={props.isDisabled}
                onInput={(event) => change(index, { body: event.currentTarget.value })}
              />
              <Show when={result()}>
                {(found) => (
                  <Badge tone={found().passed ? 'good' : 'danger'}>
                    {found().passed ? text.asExpected : found().got}
                    {found().variable === '' ? '' : ` in ${found().variable}`}
                  </Badge>
                )}
              </Show>
              <Button
                isSmall
                disabled={props.isDisabled}
                onClick={() => props.onChange(props.tests.filter((_, at) => at !== index))}
              >
                {text.remove}
              </Button>
            </div>
          );
        }}
      </Index>
      <div>
        <Button
          icon="plus"
          isSmall
          disabled={props.isDisabled}
          onClick={() => props.onChange([...props.tests, blankTest])}
        >
          {text.addRequest}
        </Button>
      </div>
    </div>
  );
}
