// A specification made of what was seen of a site: a draft for who has none, to review and to upload.
import { A } from '@solidjs/router';
import { createSignal, For, Show, type JSX } from 'solid-js';
import { linkTo } from '../../client/http.js';
import { showCount } from '../../client/moments.js';
import { createQuery } from '../../client/query.js';
import { Card, Foreign } from '../../kit/basics.js';
import { SelectField } from '../../kit/form.js';
import { Read } from '../../kit/page-state.js';
import { realityText as text } from '../../texts/apis/reality.js';

/** Where the settings have no sites, those of the environment. */
const sitesOfEnvironment: readonly string[] = ['customer', 'payment'];
const formats = ['yaml', 'json'] as const;

function Downloads(props: { readonly site: string; readonly endpoints: number }): JSX.Element {
  return (
    <Show
      when={props.endpoints > 0}
      fallback={
        <p class="muted">
          {text.nothingSeen} <A href="/inventory?view=sources">{text.toSources}</A>
        </p>
      }
    >
      <div class="row wrap">
        <For each={formats}>
          {(format) => (
            <a
              class="button"
              href={linkTo('GET /api/spec/generated', { site: props.site, format })}
              download={`openapi.${format}`}
            >
              {text.download} {format.toUpperCase()}
            </a>
          )}
        </For>
        <A href={`/inventory?site=${encodeURIComponent(props.site)}`}>
          {text.endpointsSeen(showCount(props.endpoints))}
        </A>
      </div>
    </Show>
  );
}

function OfSite(props: { readonly site: string }): JSX.Element {
  const seen = createQuery('GET /api/inventory/stats', () => ({ query: { site: props.site } }));
  return <Read of={seen}>{(data) => <Downloads site={props.site} endpoints={data().endpoints} />}</Read>;
}

export function FromTraffic(): JSX.Element {
  const sites = createQuery('GET /api/sites');
  const [chosen, choose] = createSignal('');
  const names = (): readonly string[] => {
    const known = (sites.data()?.items ?? []).map(({ name }) => name);
    return known.length > 0 ? known : sitesOfEnvironment;
  };
  const site = (): string => (names().includes(chosen()) ? chosen() : (names()[0] ?? ''));
  return (
    <Card title={text.fromTraffic}>
      <div class="stack">
        <p class="muted sentence">{text.fromTrafficAbout}</p>
        <Read of={sites}>
          {() => (
            <>
              <Show
                when={names().length > 1}
                fallback={
                  <p>
                    {text.site}: <Foreign text={site()} max={100} />
                  </p>
                }
              >
                <div class="narrow-grid">
                  <SelectField
                    label={text.siteSeen}
                    value={site()}
                    options={names().map((name) => [name, name] as const)}
                    onChange={choose}
                  />
                </div>
              </Show>
              <OfSite site={site()} />
            </>
          )}
        </Read>
      </div>
    </Card>
  );
}
