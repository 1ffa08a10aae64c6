// Which paths need credentials, and how they are verified.
import { A } from '@solidjs/router';
import { Show, type JSX } from 'solid-js';
import { saved, type SettingsValues } from '../../client/settings-draft.js';
import { Notice, PageHead } from '../../kit/basics.js';
import { sectionsText } from '../../texts/setup/sections.js';
import { Sections, type Section } from '../setup/sections.js';

const text = sectionsText.auth;

/** With HS256 a shared key counts, with the others a key set. */
const tokenSettings = ({ auth_alg: algorithm }: SettingsValues): readonly string[] =>
  algorithm === 'HS256' ? ['auth_alg', 'auth_secret'] : ['auth_alg', 'auth_jwks_url'];

const sections: readonly Section[] = [
  { title: text.paths, about: text.pathsAbout, names: ['auth_enabled', 'auth_protected_paths'] },
  {
    title: text.tokens,
    about: text.tokensAbout,
    names: ['auth_alg', 'auth_secret', 'auth_jwks_url'],
    shown: tokenSettings,
  },
  {
    title: text.claims,
    about: text.claimsAbout,
    names: [
      ...['auth_issuer', 'auth_audience', 'auth_require_exp'],
      ...['auth_token_life_max_sec', 'auth_clock_skew_sec'],
    ],
  },
  { title: text.browsers, about: text.browsersAbout, names: ['auth_preflight'] },
];

export function SiteAuth(): JSX.Element {
  return (
    <>
      <PageHead title={text.title} about={text.about} />
      <Show when={saved() !== null && saved()?.['auth_enabled'] !== true}>
        <Notice tone="info" title={text.isOff}>
          {text.isOffAbout}
        </Notice>
      </Show>
      <Show when={saved()?.['auth_enabled'] === true && saved()?.['mode'] === 'DetectionOnly'}>
        <Notice tone="warn">{text.monitors}</Notice>
      </Show>
      <Sections of={sections} />
      <p>
        <A href="/admin/settings/auth">{sectionsText.all}</A>
      </p>
    </>
  );
}
