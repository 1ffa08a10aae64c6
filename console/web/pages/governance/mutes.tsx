// Mutes: what is noise goes out of sight, for a reason and for a while; how much that is is counted before.
import { createSignal, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call, type Item } from '../../client/http.js';
import { showMoment } from '../../client/moments.js';
import { createPagedList } from '../../client/pages.js';
import type { VmAccess } from '../../client/vm-access.js';
import { createAsked } from '../../kit/asked.js';
import { Button, Foreign, Notice } from '../../kit/basics.js';
import { Confirm, Overlay, tell } from '../../kit/overlays.js';
import { ListCard } from '../../kit/table/list-card.js';
import type { TableColumn } from '../../kit/table/table.js';
import { governanceText as text } from '../../texts/vm/governance.js';
import type { Applications } from '../vulnerabilities/words.js';
import { MuteForm } from './mute-form.js';
import { namesIn } from './named-values.js';
import { sentenceOf } from './predicate.js';

type Mute = Item<'GET /api/v1/mutes'>;

const columnsOf = (
  applications: Applications,
  mayManage: () => boolean,
  onEdit: (mute: Mute) => void,
  onEnd: (mute: Mute) => void,
): readonly TableColumn<Mute>[] => [
  {
    title: text.name,
    cell: ({ name, reason }) => (
      <div class="stack tight">
        <Foreign text={name} max={120} />
        <span class="small faint">
          <Foreign text={reason} max={200} />
        </span>
      </div>
    ),
  },
  {
    title: text.mutedWhere,
    cell: ({ predicate }) => <Foreign text={sentenceOf(predicate, namesIn(applications))} max={300} />,
  },
  {
    title: text.application,
    cell: ({ application_id: id }) =>
      id === null ? text.everyApplication : <Foreign text={applications.nameOf(id)} max={80} />,
  },
  { title: text.until, class: 'nums', cell: ({ expires_at: at }) => showMoment(at) },
  { title: text.createdBy, cell: ({ created_by: who }) => <Foreign text={who} max={80} /> },
  {
    title: text.actions,
    isTitleHidden: true,
    cell: (mute) => (
      <Show when={mayManage()}>
        <div class="row">
          <Button isSmall onClick={() => onEdit(mute)}>
            {text.changeIt}
          </Button>
          <Button isSmall onClick={() => onEnd(mute)}>
            {text.endMute}
          </Button>
        </div>
      </Show>
    ),
  },
];

export function Mutes(props: { readonly applications: Applications; readonly access: VmAccess }): JSX.Element {
  const list = createPagedList('GET /api/v1/mutes', () => ({}));
  const [isAdding, setAdding] = createAsked('add');
  const [ending, setEnding] = createSignal<Mute | null>(null);
  const action = createAction();
  const mayManage = (): boolean => props.access.may('manage_mutes');
  const [edited, setEdited] = createSignal<Mute | null>(null);
  const saved = (): void => {
    setAdding(false);
    setEdited(null);
    list.reload();
  };
  const end = async (id: string): Promise<void> => {
    if (!(await action.run(() => call('DELETE /api/v1/mutes/{id}', { params: { id } })))) return;
    tell(text.ended);
    setEnding(null);
    list.reload();
  };
  return (
    <>
      <ListCard
        label={text.mutes}
        title={text.mutes}
        actions={
          <Show when={mayManage()}>
            <Button isSmall look="primary" icon="plus" onClick={() => setAdding(true)}>
              {text.newMute}
            </Button>
          </Show>
        }
        list={list}
        columns={columnsOf(props.applications, mayManage, setEdited, setEnding)}
        keyOf={({ id }) => id}
        empty={text.noMutes}
        emptyAbout={text.noMutesAbout}
      />
      <Overlay isOpen={isAdding() && mayManage()} look="wide" title={text.newMute} onClose={() => setAdding(false)}>
        <MuteForm of={null} applications={props.applications} onSaved={saved} />
      </Overlay>
      <Overlay
        isOpen={edited() !== null && mayManage()}
        look="wide"
        title={text.changeMute}
        onClose={() => setEdited(null)}
      >
        <Show when={edited()} keyed>
          {(mute) => <MuteForm of={mute} applications={props.applications} onSaved={saved} />}
        </Show>
      </Overlay>
      <Confirm
        isOpen={ending() !== null}
        title={text.endMuteAsk}
        action={text.endMute}
        isBusy={action.isBusy()}
        onConfirm={() => void end(ending()?.id ?? '')}
        onClose={() => setEnding(null)}
      >
        <p>
          <Foreign text={ending()?.name} max={200} />
        </p>
        <p>{text.endMuteAbout}</p>
        <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      </Confirm>
    </>
  );
}
