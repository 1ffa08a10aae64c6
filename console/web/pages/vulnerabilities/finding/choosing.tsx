// Which findings of the list are chosen for a change of many: one by one, a range with Shift, or all that are shown.
import { createEffect, createMemo, createSignal, type Accessor, type JSX } from 'solid-js';
import type { TableColumn } from '../../../kit/table/table.js';
import { findingsText as text } from '../../../texts/vm/findings.js';
import type { Finding } from '../words.js';
import { between } from './range.js';

export interface Chosen {
  readonly rows: Accessor<readonly Finding[]>;
  has(id: string): boolean;
  change(findings: readonly Finding[], isOn: boolean): void;
  set(findings: readonly Finding[]): void;
}

export function createSelection(): Chosen {
  const [byId, setById] = createSignal<ReadonlyMap<string, Finding>>(new Map());
  return {
    rows: createMemo(() => [...byId().values()]),
    has: (id) => byId().has(id),
    change(findings, isOn) {
      const next = new Map(byId());
      for (const one of findings)
        if (isOn) next.set(one.id, one);
        else next.delete(one.id);
      setById(next);
    },
    set: (findings) => void setById(new Map(findings.map((one) => [one.id, one]))),
  };
}

function ChooseAll(props: { readonly chosen: Chosen; readonly shown: readonly Finding[] }): JSX.Element {
  const count = createMemo(() => props.shown.filter(({ id }) => props.chosen.has(id)).length);
  const isEach = (): boolean => count() > 0 && count() === props.shown.length;
  let box: HTMLInputElement | undefined;
  createEffect(() => {
    if (box !== undefined) box.indeterminate = count() > 0 && !isEach();
  });
  return (
    <input
      ref={(element) => (box = element)}
      type="checkbox"
      aria-label={text.chooseShown}
      checked={isEach()}
      disabled={props.shown.length === 0}
      onChange={(event) => props.chosen.change(props.shown, event.currentTarget.checked)}
    />
  );
}

/** A column of boxes. With Shift the rows between the last box and this one become as this one. */
export function choosing(chosen: Chosen, shown: Accessor<readonly Finding[]>): TableColumn<Finding> {
  let last: string | null = null;
  const click = (finding: Finding, event: MouseEvent & { readonly currentTarget: HTMLInputElement }): void => {
    const range = event.shiftKey ? between(shown(), last, finding.id) : [finding];
    chosen.change(range, event.currentTarget.checked);
    last = finding.id;
  };
  return {
    title: text.choose,
    isTitleHidden: true,
    head: () => <ChooseAll chosen={chosen} shown={shown()} />,
    cell: (finding) => (
      <input
        type="checkbox"
        aria-label={text.chooseOne(finding.title)}
        checked={chosen.has(finding.id)}
        onClick={(event) => click(finding, event)}
      />
    ),
  };
}
