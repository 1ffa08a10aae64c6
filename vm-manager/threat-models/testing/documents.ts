// Documents in the shape of each format, of our own.
export const threagile = `threagile_version: 1.0.0
title: Parcel service
business_criticality: important
data_assets:
  Customer addresses:
    id: addresses
    confidentiality: confidential
    quantity: many
  Build scripts:
    id: scripts
    confidentiality: internal
technical_assets:
  Customer app:
    id: app
    type: external-entity
    used_as_client_by_human: true
    internet: true
    technology: browser
    communication_links:
      Parcel traffic:
        target: backend
        protocol: https
        authentication: session-id
        data_assets_sent: [addresses]
      Lost link:
        target: nowhere
        protocol: http
  Backend:
    id: backend
    type: process
    technology: web-service-rest
    machine: container
    multi_tenant: true
    encryption: none
    data_assets_processed: [addresses, ghost]
    data_formats_accepted: [json, xml, serialization]
    communication_links:
      Reads parcels:
        target: db
        protocol: jdbc
        authentication: credentials
        data_assets_received: [addresses]
  Parcel database:
    id: db
    type: datastore
    technology: database
    encryption: none
    data_assets_stored: [addresses]
trust_boundaries:
  Cloud:
    id: cloud
    type: network-cloud-provider
    trust_boundaries_nested: [inner]
    technical_assets_inside: [backend]
  Inner:
    id: inner
    type: network-cloud-security-group
    technical_assets_inside: [db]
risk_tracking:
  some@thing: { status: accepted }
`;

export const otm = {
  otmVersion: '0.2.0',
  project: { id: 'p', name: 'Library' },
  assets: [
    { id: 'loans', name: 'Loans of persons', risk: { confidentiality: 80, integrity: 50, availability: 10 } },
    { id: 'catalogue', name: 'Catalogue', risk: { confidentiality: 0 } },
  ],
  trustZones: [
    { id: 'net', name: 'Internet', risk: { trustRating: 1 } },
    { id: 'vpc', name: 'Private network', risk: { trustRating: 60 } },
  ],
  components: [
    { id: 'reader', name: 'Reader', type: 'web-client', parent: { trustZone: 'net' } },
    {
      id: 'site',
      name: 'Library site',
      type: 'web-application-server-side',
      parent: { trustZone: 'vpc' },
      threats: [{ threat: 't1', state: 'exposed' }],
      assets: { processed: ['loans', 'catalogue'] },
    },
    { id: 'module', name: 'Search', type: 'service', parent: { component: 'site' } },
    { id: 'store', name: 'Loans', type: 'postgresql', parent: { trustZone: 'vpc' }, assets: { stored: ['loans'] } },
  ],
  dataflows: [
    { id: 'f1', name: 'Borrows', source: 'reader', destination: 'site', bidirectional: true, assets: ['loans'] },
    { id: 'f2', name: 'Keeps', source: 'site', destination: 'store', assets: ['loans', 'gone'] },
    { id: 'f3', name: 'Broken', source: 'site', destination: 'nowhere' },
  ],
  mitigations: [{ id: 'm', name: 'Encrypt' }],
};

export const own = `gatehouse_threat_model: 1
name: Shop
boundaries:
  - { id: net, name: Internet, kind: internet }
  - { id: in, name: Inside, kind: network }
elements:
  - { id: buyer, name: Buyer, kind: person, boundary: net }
  - { id: shop, name: Shop, kind: process, boundary: in, traits: [serves_pages, parses_xml] }
  - { id: orders, name: Orders, kind: store, boundary: in, technology: PostgreSQL, data: [order] }
flows:
  - { id: buy, name: Buys, from: buyer, to: shop, protocol: http, authentication: session, encrypted: no }
  - { id: keep, name: Keeps, from: shop, to: orders, authentication: none, data: [order] }
data:
  - { id: order, name: Order, classification: restricted, personal: true }
`;
