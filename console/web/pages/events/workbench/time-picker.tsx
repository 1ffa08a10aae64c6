// Chooses the time range: one of the usual lengths until now, or two moments. It stands in the address.
import { useSearchParams } from '@solidjs/router';
import { createSignal, For, Show, type JSX } from 'solid-js';
import { zoneName } from '../../../client/moments.js';
import { Button } from '../../../kit/basics.js';
import type { Filters } from '../../../kit/filter-bar.js';
import { workbenchText as text } from '../../../texts/events/workbench.js';
import {
  isRelative,
  momentForField,
  momentTyped,
  rangeDefault,
  relativeRanges,
  type RelativeRange,
} from './time-range.js';

const refreshes = [0, 10, 30, 60] as const;

export function TimePicker(props: {
  readonly filters: Filters;
  readonly everySeconds: number;
  readonly onEvery: (seconds: number) => void;
  readonly onRefresh: () => void;
  readonly isBusy: boolean;
}): JSX.Element {
  const [, setSearch] = useSearchParams();
  const isAbsolute = (): boolean => props.filters['from'] !== undefined || props.filters['to'] !== undefined;
  const [isAsked, setAsked] = createSignal(false);
  const range = (): string => props.filters['range'] ?? rangeDefault;
  const choose = (value: string): void => {
    setAsked(value === 'custom');
    if (isRelative(value)) setSearch({ range: value, from: '', to: '' });
  };
  const field = (name: 'from' | 'to', label: string): JSX.Element => (
    <label class="time-field">
      <span class="small faint">{label}</span>
      <input
        type="datetime-local"
        class="input"
        value={momentForField(props.filters[name])}
        onChange={(event) => setSearch({ [name]: momentTyped(event.currentTarget.value) ?? '' })}
      />
    </label>
  );
  return (
    <div class="row wrap" role="group" aria-label={text.timeRange}>
      <select class="select fit" aria-label={text.timeRange} onChange={(event) => choose(event.currentTarget.value)}>
        <For each={Object.keys(relativeRanges) as RelativeRange[]}>
          {(name) => (
            <option value={name} selected={!isAbsolute() && !isAsked() && range() === name}>
              {text.ranges[name]}
            </option>
          )}
        </For>
        <option value="custom" selected={isAbsolute() || isAsked()}>
          {text.custom}
        </option>
      </select>
      <Show when={isAbsolute() || isAsked()}>
        {field('from', text.from(zoneName()))}
        {field('to', text.to(zoneName()))}
      </Show>
      <select
        class="select fit"
        aria-label={text.autoRefresh}
        onChange={(event) => props.onEvery(Number(event.currentTarget.value))}
      >
        <For each={refreshes}>
          {(seconds) => (
            <option value={seconds} selected={props.everySeconds === seconds}>
              {seconds === 0 ? text.noRefresh : text.refreshEvery(seconds)}
            </option>
          )}
        </For>
      </select>
      <Button onClick={props.onRefresh} isBusy={props.isBusy}>
        {text.refresh}
      </Button>
    </div>
  );
}
