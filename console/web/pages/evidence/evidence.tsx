// Evidence for auditors: packs, and the files that people add to them.
import { useSearchParams } from '@solidjs/router';
import { Match, Switch, type JSX } from 'solid-js';
import { createVmAccess } from '../../client/vm-access.js';
import { PageHead, Tabs } from '../../kit/basics.js';
import { evidenceText as text } from '../../texts/resources/evidence.js';
import { Files } from './files.js';
import { Packs } from './packs.js';
import { Verification } from './verification.js';

const tabs = [
  ['packs', text.view.packs],
  ['files', text.view.files],
  ['verification', text.view.verification],
] as const;

export function Evidence(): JSX.Element {
  const [search, setSearch] = useSearchParams();
  const access = createVmAccess();
  const mayBuild = (): boolean => access.may('build_evidence');
  const tab = () => tabs.find(([name]) => name === search['view'])?.[0] ?? 'packs';
  return (
    <>
      <PageHead title={text.title} about={text.about} />
      <Tabs label={text.views} tabs={tabs} chosen={tab()} onChoose={(view) => setSearch({ view, pack: '' })} />
      <Switch>
        <Match when={tab() === 'packs'}>
          <Packs mayBuild={mayBuild()} />
        </Match>
        <Match when={tab() === 'files'}>
          <Files mayBuild={mayBuild()} />
        </Match>
        <Match when={tab() === 'verification'}>
          <Verification />
        </Match>
      </Switch>
    </>
  );
}
