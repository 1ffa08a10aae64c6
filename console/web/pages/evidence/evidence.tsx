// Evidence for auditors: packs, and the files that people add to them.
import { useSearchParams } from '@solidjs/router';
import { Show, type JSX } from 'solid-js';
import { createVmAccess } from '../../client/vm-access.js';
import { PageHead, Tabs } from '../../kit/basics.js';
import { evidenceText as text } from '../../texts/resources/evidence.js';
import { Files } from './files.js';
import { Packs } from './packs.js';

const tabs = [
  ['packs', text.view.packs],
  ['files', text.view.files],
] as const;

export function Evidence(): JSX.Element {
  const [search, setSearch] = useSearchParams();
  const access = createVmAccess();
  const mayBuild = (): boolean => access.may('build_evidence');
  const isFiles = (): boolean => search['view'] === 'files';
  return (
    <>
      <PageHead title={text.title} about={text.about} />
      <Tabs
        label={text.views}
        tabs={tabs}
        chosen={isFiles() ? 'files' : 'packs'}
        onChoose={(view) => setSearch({ view, pack: '' })}
      />
      <Show when={isFiles()} fallback={<Packs mayBuild={mayBuild()} />}>
        <Files mayBuild={mayBuild()} />
      </Show>
    </>
  );
}
