import { createSignal, For, Show, type JSX } from 'solid-js';
import { call, linkTo, Refused, type Item } from '../../client/http.js';
import { showMoment } from '../../client/moments.js';
import { createPagedList } from '../../client/pages.js';
import { Button, Card, Empty, Foreign, Loading, Notice, PageHead } from '../../kit/basics.js';
import { FilterBar, useFilters } from '../../kit/filter-bar.js';
import { tell, tellProblem } from '../../kit/overlays.js';

type Entry = Item<'GET /api/audit'>;

const filterNames = ['q', 'actor', 'action', 'role', 'source_ip', 'from', 'to'];

function EntryTable(props: { readonly entries: readonly Entry[] }): JSX.Element {
  return (
    <div class="table-scroll">
      <table class="table">
        <thead>
          <tr>
            <th>When</th>
            <th>Who</th>
            <th>Action</th>
            <th>What</th>
            <th>From</th>
          </tr>
        </thead>
        <tbody>
          <For each={props.entries}>
            {(entry) => (
              <tr>
                <td class="nums">{showMoment(entry.at)}</td>
                <td>
                  <Foreign text={entry.actor} max={80} /> <span class="faint">{entry.role}</span>
                </td>
                <td class="mono">{entry.action}</td>
                <td>
                  <Foreign text={entry.summary} max={300} />
                </td>
                <td class="mono">{entry.source_ip}</td>
              </tr>
            )}
          </For>
        </tbody>
      </table>
    </div>
  );
}

/** Who did what, in a chain that shows when an entry was changed or taken out. */
export function Audit(): JSX.Element {
  const filters = useFilters(filterNames);
  const list = createPagedList('GET /api/audit', () => filters());
  const [isBusy, setBusy] = createSignal(false);
  const verify = async (): Promise<void> => {
    setBusy(true);
    try {
      const { ok, checked, first_broken } = await call('GET /api/audit/verify');
      if (ok) tell(`The chain is whole: ${checked} entries.`);
      else tell(`The chain is broken at entry ${first_broken?.id ?? '?'}: ${first_broken?.reason ?? ''}`, true);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      tellProblem(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <PageHead title="Audit log" about="Who did what, and from where. Entries are chained by their hashes.">
        <a class="button" href={linkTo('GET /api/audit/export', filters())} download="audit.csv">
          Export as CSV (UTC)
        </a>
        <Button icon="check" isBusy={isBusy()} onClick={() => void verify()}>
          Verify the chain
        </Button>
      </PageHead>
      <FilterBar names={filterNames} placeholder="Words, or actor:…, action:login, source_ip:…" />
      <Show when={list.problem()}>{(problem) => <Notice tone="danger">{problem().message}</Notice>}</Show>
      <Card isFlush>
        <Show
          when={list.items().length > 0}
          fallback={
            <Show when={!list.isLoading()} fallback={<Loading />}>
              <Empty title="No entries" />
            </Show>
          }
        >
          <EntryTable entries={list.items()} />
        </Show>
      </Card>
      <Show when={list.hasMore()}>
        <div>
          <Button onClick={list.readMore} isBusy={list.isLoading()}>
            More
          </Button>
        </div>
      </Show>
    </>
  );
}
