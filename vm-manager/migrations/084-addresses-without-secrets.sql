-- Addresses of servers in specifications may have had a login or a token in them; they were kept whole until here.
update vm_discovery_assets set url = regexp_replace(regexp_replace(url, '[?#].*$', ''), '^(https?://)[^/@]*@', '\1')
where url ~ '[?#]' or url ~ '^https?://[^/]*@';
