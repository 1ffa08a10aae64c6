// Bots: who came, and what happens to those that are bots.
import { A, useSearchParams } from '@solidjs/router';
import { Show, type JSX } from 'solid-js';
import { PageHead, Tabs } from '../../kit/basics.js';
import { sectionsText } from '../../texts/setup/sections.js';
import { Sections, type Section } from '../setup/sections.js';
import { Bots } from './bots.js';

const text = sectionsText.bots;

type View = 'seen' | 'settings';
const views: readonly (readonly [View, string])[] = [
  ['seen', text.seen],
  ['settings', text.settings],
];

const sections: readonly Section[] = [
  { title: text.action, about: text.actionAbout, names: ['bot_action', 'bot_score_threshold'] },
  {
    title: text.signs,
    about: text.signsAbout,
    names: ['bot_check_headers', 'bot_block_automation', 'bot_ja3_blocklist'],
  },
  {
    title: text.crawlers,
    about: text.crawlersAbout,
    names: ['bot_allow_verified', 'bot_verify_rdns', 'bot_crawler_range_urls', 'bot_crawler_range_hours'],
  },
];

export function BotsPage(): JSX.Element {
  const [search, setSearch] = useSearchParams();
  const view = (): View => (search['view'] === 'settings' ? 'settings' : 'seen');
  return (
    <>
      <PageHead title={text.title} about={text.about} />
      <Tabs label={text.views} tabs={views} chosen={view()} onChoose={(to) => setSearch({ view: to })} />
      <Show when={view() === 'settings'} fallback={<Bots />}>
        <Sections of={sections} />
        <p>
          <A href="/admin/settings/bots">{sectionsText.all}</A>
        </p>
      </Show>
    </>
  );
}
