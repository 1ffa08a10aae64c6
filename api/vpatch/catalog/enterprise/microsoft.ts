// Microsoft: Exchange, SharePoint, Windows.
import { asPath, asSent, type CatalogPatch, definePatch } from '../entry.js';

const r = String.raw;

export const microsoftPatches: readonly CatalogPatch[] = [
  definePatch({
    id: 1007401,
    cve: 'CVE-2021-34473',
    title: 'Exchange ProxyShell path confusion',
    product: 'Microsoft Exchange Server',
    affected: '2013, 2016, 2019 before April 2021',
    cwe: 'CWE-918',
    severity: 'critical',
    phase: 1,
    links: [
      ['REQUEST_URI_RAW', r`@rx /autodiscover/autodiscover\.json[^/]*@[^/]*/(?:mapi|ews|ecp|owa|powershell)`, asSent],
    ],
    attack: [
      [
        'mail box',
        'GET /autodiscover/autodiscover.json?@evil.example/mapi/nspi?&' +
          'Email=autodiscover/autodiscover.json%3f@evil.example',
      ],
      ['shell', 'POST /autodiscover/autodiscover.json?a=@evil.example/powershell/?X-Rps-CAT=x'],
    ],
    benign: [
      ['discovery', 'GET /autodiscover/autodiscover.json?Email=anna@example.org&Protocol=ActiveSync'],
      ['versioned', 'GET /autodiscover/autodiscover.json/v1.0/anna@example.org?Protocol=EWS'],
    ],
  }),
  definePatch({
    id: 1007402,
    cve: 'CVE-2021-26855',
    title: 'Exchange ProxyLogon request forgery',
    product: 'Microsoft Exchange Server',
    affected: '2013, 2016, 2019 before March 2021',
    cwe: 'CWE-918',
    severity: 'critical',
    phase: 1,
    links: [['REQUEST_COOKIES:X-BEResource|REQUEST_COOKIES:X-AnonResource-Backend', r`@rx [/@?\]]`, 'urlDecodeUni']],
    attack: [
      [
        'forged back end',
        'POST /ecp/y.js',
        { Cookie: 'X-BEResource=localhost/autodiscover/autodiscover.xml?a=~1942062522' },
        'x',
      ],
    ],
    benign: [
      ['a back end', 'GET /ecp/', { Cookie: 'X-BEResource=exchange01~1942062522' }],
      ['another cookie', 'GET /owa/', { Cookie: 'path=/owa/' }],
    ],
  }),
  definePatch({
    id: 1007403,
    cve: 'CVE-2020-0688',
    title: 'Exchange control panel takes forged view state',
    product: 'Microsoft Exchange Server',
    affected: '2010 to 2019 before February 2020',
    cwe: 'CWE-502',
    severity: 'high',
    phase: 1,
    links: [
      ['REQUEST_FILENAME', r`@rx ^/ecp/`, asPath],
      ['ARGS_GET_NAMES', '@streq __viewstate', 'lowercase'],
    ],
    attack: [['view state in the query', 'GET /ecp/default.aspx?__VIEWSTATEGENERATOR=B97B4E27&__VIEWSTATE=/wEy']],
    benign: [
      ['the panel', 'GET /ecp/default.aspx'],
      ['posted', 'POST /ecp/default.aspx', {}, '__VIEWSTATE=/wEy'],
    ],
  }),
  definePatch({
    id: 1007404,
    cve: 'CVE-2025-53770',
    title: 'SharePoint ToolPane without login',
    product: 'Microsoft SharePoint Server',
    affected: '2016, 2019, Subscription Edition before July 2025',
    cwe: 'CWE-502',
    severity: 'critical',
    phase: 1,
    links: [
      ['REQUEST_FILENAME', r`@rx /_layouts/(?:\d+/)?toolpane\.aspx`, asPath],
      ['REQUEST_HEADERS:Referer', r`@rx /_layouts/(?:\d+/)?signout\.aspx`, 'urlDecodeUni,lowercase'],
    ],
    attack: [
      [
        'from the sign-out page',
        'POST /_layouts/15/ToolPane.aspx?DisplayMode=Edit&a=/ToolPane.aspx',
        { Referer: '/_layouts/SignOut.aspx' },
        'MSOTlPn_Uri=x',
      ],
    ],
    benign: [
      [
        'editing a page',
        'POST /_layouts/15/ToolPane.aspx?DisplayMode=Edit',
        { Referer: 'https://intranet.example/SitePages/Home.aspx' },
        'a=1',
      ],
      ['logging in again', 'GET /', { Referer: 'https://intranet.example/_layouts/15/SignOut.aspx' }],
    ],
  }),
  definePatch({
    id: 1007405,
    cve: 'CVE-2019-0604',
    title: 'SharePoint picker deserialises a field',
    product: 'Microsoft SharePoint',
    affected: '2010 to 2019 before February 2019',
    cwe: 'CWE-20',
    severity: 'critical',
    phase: 2,
    links: [
      ['REQUEST_FILENAME', r`@rx /_layouts/(?:\d+/)?picker\.aspx`, asPath],
      ['ARGS:/hiddenSpanData$/', r`@rx ^__`],
    ],
    attack: [
      [
        'encoded entity',
        'POST /_layouts/15/Picker.aspx?PickerDialogType=x',
        {},
        'ctl00%24PlaceHolderDialogBodySection%24ctl05%24hiddenSpanData=__bp82c135009700370047005600d60',
      ],
    ],
    benign: [
      [
        'a choice',
        'POST /_layouts/15/Picker.aspx',
        {},
        'ctl00%24PlaceHolderDialogBodySection%24ctl05%24hiddenSpanData=',
      ],
      ['elsewhere', 'POST /x', {}, 'hiddenSpanData=__a'],
    ],
  }),
  definePatch({
    id: 1007406,
    cve: 'CVE-2015-1635',
    title: 'Windows HTTP.sys range overflow',
    product: 'Microsoft Windows',
    affected: '7, 8, 2008 R2, 2012 before April 2015',
    cwe: 'CWE-94',
    severity: 'critical',
    phase: 1,
    links: [['REQUEST_HEADERS:Range|REQUEST_HEADERS:Request-Range', r`@rx -\s*\d{18,}`]],
    attack: [['largest number', 'GET /iisstart.htm', { Range: 'bytes=18-18446744073709551615' }]],
    benign: [
      ['a part', 'GET /film.mp4', { Range: 'bytes=0-1048575' }],
      ['to the end', 'GET /film.mp4', { Range: 'bytes=12345678901-' }],
    ],
  }),
];
