// One attack chain under an address of its own: its picture, what each hop rests on, since when it stands, and the same
// in words where a model is configured. A chain that is none any more is told with what became of its findings.
import { A, useParams } from '@solidjs/router';
import { For, Match, Show, Switch, type JSX } from 'solid-js';
import type { Reply } from '../../../client/http.js';
import { showMoment } from '../../../client/moments.js';
import { createQuery } from '../../../client/query.js';
import { Badge, Button, Card, Foreign, PageHead, Pairs } from '../../../kit/basics.js';
import { copyAndTell } from '../../../kit/copy.js';
import { Read } from '../../../kit/page-state.js';
import { chainsText as words } from '../../../texts/vm/chains.js';
import { vulnText as text } from '../../../texts/vm/vulnerabilities.js';
import { ChainPicture } from '../chain-picture.js';
import { chainAt, plain } from '../words.js';
import { GoneChain } from './gone-chain.js';
import { HopEvidence } from './hop-evidence.js';
import { Narrative } from './narrative.js';

type Told = Reply<'GET /api/v1/graph/attack-chains/{id}'>;

function Facts(props: { readonly of: Told }): JSX.Element {
  const chain = (): Told['chain'] => props.of.chain;
  return (
    <Pairs
      of={[
        [
          text.application,
          <A href={`/vulnerabilities/applications?application=${chain().app.id}`}>
            <Foreign text={chain().app.name} max={200} />
          </A>,
        ],
        [words.risk, words.of100(chain().score)],
        [words.since, showMoment(props.of.history.since)],
        [words.firstSeen, showMoment(props.of.history.first_seen)],
        [words.techniques, chain().mitre.join(', ')],
        [words.dangerous, chain().danger ? words.isDangerous : words.isNotDangerous],
      ]}
    />
  );
}

/** The same findings make these, too; this one stands for them. */
function Also(props: { readonly of: Told['also'] }): JSX.Element {
  return (
    <Show when={props.of.length > 0}>
      <section class="stack tight">
        <h3>{words.also}</h3>
        <ul class="stack tight plain-list">
          <For each={props.of}>
            {({ id, kind, name }) => (
              <li class="row wrap">
                <Badge>{plain(kind)}</Badge>
                <A href={chainAt(id)}>
                  <Foreign text={name} max={300} />
                </A>
              </li>
            )}
          </For>
        </ul>
      </section>
    </Show>
  );
}

function Standing(props: { readonly of: Told }): JSX.Element {
  const evidenceOf = (id: string): Told['evidence'][number] | undefined =>
    props.of.evidence.find(({ vuln_id: hop }) => hop === id);
  return (
    <div class="stack">
      <ChainPicture of={props.of.chain} isItsPage />
      <div class="grid grid-2">
        <Card title={words.facts}>
          <div class="stack">
            <Facts of={props.of} />
            <Also of={props.of.also} />
          </div>
        </Card>
        <Narrative chain={props.of.chain} />
      </div>
      <Card title={words.whyChain} actions={<A href="/vulnerabilities/chains?view=rules">{words.whatCounts}</A>}>
        <ol class="grid grid-2">
          <For each={props.of.chain.hops}>
            {(hop, index) => <HopEvidence hop={hop} of={evidenceOf(hop.vuln_id)} number={index() + 1} />}
          </For>
        </ol>
      </Card>
    </div>
  );
}

export function ChainPage(): JSX.Element {
  const params = useParams();
  const id = (): string => decodeURIComponent(params['id'] ?? '');
  const chain = createQuery('GET /api/v1/graph/attack-chains/{id}', () => ({ params: { id: id() } }));
  return (
    <>
      <PageHead title={words.chain} about={<Foreign text={id()} max={120} />}>
        <Button onClick={() => void copyAndTell(window.location.href)}>{words.copyAddress}</Button>
        <A class="button" href="/vulnerabilities/chains">
          {words.allChains}
        </A>
      </PageHead>
      <Switch fallback={<Read of={chain}>{(data) => <Standing of={data()} />}</Read>}>
        <Match when={chain.problem()?.status === 404 && chain.data() === undefined}>
          <GoneChain id={id()} />
        </Match>
      </Switch>
    </>
  );
}
