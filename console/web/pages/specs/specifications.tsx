// Specifications of APIs: which are named, an upload, one made of traffic, every stored version.
import { A } from '@solidjs/router';
import { onMount, Show, type JSX } from 'solid-js';
import { showCount, showMoment } from '../../client/moments.js';
import { createQuery } from '../../client/query.js';
import { mayAs } from '../../client/session.js';
import { loadSettings, settingsRead } from '../../client/settings-draft.js';
import { Badge, Card, Foreign, PageHead } from '../../kit/basics.js';
import { Read } from '../../kit/page-state.js';
import { createChosen } from '../../kit/table/list-card.js';
import { Table, type TableColumn } from '../../kit/table/table.js';
import { ofQuery } from '../../kit/table/table-source.js';
import { specsText as text } from '../../texts/apis/specs.js';
import { ConflictDialog } from '../settings/conflict.js';
import { DraftGuard, SaveBar } from '../settings/save-bar.js';
import { FromTraffic } from './from-traffic.js';
import { InForce } from './in-force.js';
import type { StoredSpec } from './named.js';
import { SpecDrawer } from './spec-drawer.js';
import { Upload } from './upload.js';

const own = ['api_specs', 'schema_action'];

const columns: readonly TableColumn<StoredSpec>[] = [
  { title: text.site, sortBy: ({ site }) => site, cell: ({ site }) => <Foreign text={site} max={80} /> },
  { title: text.name, sortBy: ({ name }) => name, cell: ({ name }) => <Foreign text={name} max={80} /> },
  { title: text.version, isNumber: true, sortBy: ({ version }) => version, cell: ({ version }) => version },
  { title: text.title, cell: ({ title }) => <Foreign text={title} max={120} /> },
  { title: text.declared, cell: (one) => <Foreign text={one.declared_version} max={40} /> },
  { title: text.operations, isNumber: true, sortBy: (one) => one.operations, cell: (one) => showCount(one.operations) },
  {
    title: text.state,
    cell: (one) => (one.in_settings ? <Badge tone="good">{text.named}</Badge> : <Badge>{text.stored}</Badge>),
  },
  { title: text.uploaded, class: 'nums', sortBy: ({ at }) => at, cell: ({ at }) => showMoment(at) },
  { title: text.author, cell: ({ author }) => <Foreign text={author} max={80} /> },
];

export function Specifications(): JSX.Element {
  const specs = createQuery('GET /api/spec');
  const [chosen, choose] = createChosen('spec');
  onMount(() => void loadSettings());
  const reload = (): void => void specs.reload();
  const all = (): readonly StoredSpec[] => specs.data()?.items ?? [];
  return (
    <>
      <PageHead
        title={text.specifications}
        about={
          <>
            {text.about} <A href="/inventory">{text.toInventory}</A>.
          </>
        }
      />
      <DraftGuard />
      <ConflictDialog />
      <Read of={settingsRead}>{() => <InForce />}</Read>
      <Show when={mayAs('operator')}>
        <Upload onUploaded={reload} />
      </Show>
      <FromTraffic />
      <Card isFlush title={text.versions}>
        <Table
          label={text.versions}
          columns={columns}
          of={ofQuery(specs, ({ items }) => items)}
          keyOf={({ id }) => String(id)}
          chosen={chosen()}
          onOpen={({ id }) => choose(String(id))}
          empty={text.noVersions}
          emptyAbout={text.noVersionsAbout}
        />
      </Card>
      <SaveBar names={own} onSaved={reload} />
      <SpecDrawer
        of={all().find(({ id }) => String(id) === chosen()) ?? null}
        all={all()}
        onClose={() => choose(null)}
        onChanged={reload}
      />
    </>
  );
}
