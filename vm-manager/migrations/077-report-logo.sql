-- The logo as documents draw it: a PNG. Pages draw a logo of SVG, for which documents have this picture of it.
alter table vm_branding add column report_logo bytea;
update vm_branding set report_logo = logo where logo_type = 'image/png';
