// Which site of the firewall an application is behind, where its virtual patches hold; and whether its names count.
import { createMemo, Show, type JSX } from 'solid-js';
import { createAction } from '../../../client/action.js';
import { call } from '../../../client/http.js';
import { createQuery } from '../../../client/query.js';
import { Button, Notice } from '../../../kit/basics.js';
import { SelectField } from '../../../kit/form.js';
import { tell } from '../../../kit/overlays.js';
import { assetsText as text } from '../../../texts/vm/assets.js';
import type { Application } from '../words.js';

export function SiteLink(props: { readonly of: Application; readonly onSaved: () => void }): JSX.Element {
  const sites = createQuery('GET /api/sites');
  const names = createMemo((): readonly string[] => {
    const known = sites.data()?.items.map(({ name }) => name) ?? [];
    return [...new Set([...(props.of.site == null ? [] : [props.of.site]), ...known])];
  });
  const action = createAction();
  const link = async (site: string | null): Promise<void> => {
    const put = () => call('PUT /api/v1/applications/{id}/site', { params: { id: props.of.id }, body: { site } });
    if (!(await action.run(put))) return;
    tell(site === null ? text.siteSaved : text.siteNow(site));
    props.onSaved();
  };
  const confirmNames = async (): Promise<void> => {
    // said again by somebody of the whole organisation, they are confirmed
    const body = { name: props.of.name ?? '' };
    const patch = () => call('PATCH /api/v1/applications/{id}', { params: { id: props.of.id }, body });
    if (!(await action.run(patch))) return;
    tell(text.namesSure);
    props.onSaved();
  };
  return (
    <div class="stack tight">
      <SelectField
        label={text.site}
        value={props.of.site ?? ''}
        options={[['', text.noSite], ...names().map((name) => [name, name] as const)]}
        onChange={(site) => void link(site === '' ? null : site)}
        from={sites}
        help={sites.data() !== undefined && names().length === 0 ? text.noSites : text.siteHelp}
        isDisabled={action.isBusy()}
      />
      <Show when={props.of.site != null && props.of.site_confirmed === false}>
        <Notice tone="warn">{text.siteUnsure}</Notice>
        <div>
          <Button isBusy={action.isBusy()} onClick={() => void link(props.of.site ?? null)}>
            {text.confirmSite}
          </Button>
        </div>
      </Show>
      <Show when={props.of.names_confirmed === false}>
        <Notice tone="warn">{text.namesUnsure}</Notice>
        <div>
          <Button isBusy={action.isBusy()} onClick={() => void confirmNames()}>
            {text.confirmNames}
          </Button>
        </div>
      </Show>
      <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
    </div>
  );
}
