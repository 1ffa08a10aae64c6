{{/* Pod Security Standard "restricted", and a user that no node has. */}}
{{- define "gatehouse.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "gatehouse.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{/* A list: the context, the name of the part, and its values. */}}
{{- define "gatehouse.podPlacement" -}}
{{- $root := index . 0 -}}
{{- $values := index . 2 -}}
{{- with $root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- with $values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with $values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
topologySpreadConstraints:
  {{- range $key := list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
  - maxSkew: 1
    topologyKey: {{ $key }}
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "gatehouse.selector" $ | nindent 8 }}
  {{- end }}
{{- end -}}

{{/* Secrets of the data plane as a JSON list of variable, Secret and key. */}}
{{- define "gatehouse.dataPlaneSecrets" -}}
{{- $v := .Values -}}
{{- $all := list (dict "name" "GATEHOUSE_ADMIN_TOKEN" "secret" $v.secrets.existingSecret) -}}
{{- if $v.join.tokenSecret -}}
{{- $all = append $all (dict "name" "JOIN_TOKEN" "secret" $v.join.tokenSecret) -}}
{{- else -}}
{{- $all = append $all (dict "name" "NODES_JOIN_SECRET" "secret" $v.secrets.existingSecret) -}}
{{- end -}}
{{- if eq $v.redis.mode "external" -}}
{{- $all = append $all (dict "name" "REDIS_URL" "secret" $v.redis.existingSecret) -}}
{{- end -}}
{{- range $name, $ref := $v.dataPlane.secretEnv -}}
{{- $all = append $all (dict "name" $name "secret" $ref.secret "key" $ref.key) -}}
{{- end -}}
{{- $all | toJson -}}
{{- end -}}

{{- define "gatehouse.controlPlaneSecrets" -}}
{{- $v := .Values -}}
{{- $all := list -}}
{{- range list "AUTH_SESSION_SECRET" "SETTINGS_ENCRYPTION_SECRET" "DATA_ADMIN_TOKEN" "CONSOLE_TOKEN" "NODES_JOIN_SECRET" "ADMIN_INITIAL_PASSWORD" -}}
{{- $all = append $all (dict "name" . "secret" $v.secrets.existingSecret) -}}
{{- end -}}
{{- if eq $v.database.mode "external" -}}
{{- $all = append $all (dict "name" "DATABASE_URL" "secret" $v.database.existingSecret) -}}
{{- else if eq $v.database.mode "bundled" -}}
{{- $all = append $all (dict "name" "POSTGRES_PASSWORD" "secret" $v.secrets.existingSecret) -}}
{{- end -}}
{{- if eq $v.redis.mode "external" -}}
{{- $all = append $all (dict "name" "REDIS_URL" "secret" $v.redis.existingSecret) -}}
{{- end -}}
{{- range $name, $ref := $v.controlPlane.secretEnv -}}
{{- $all = append $all (dict "name" $name "secret" $ref.secret "key" $ref.key) -}}
{{- end -}}
{{- $all | toJson -}}
{{- end -}}

{{/* The next two take that list. A secret comes as a file: nothing of it is in the environment of a process. */}}
{{- define "gatehouse.secretVariables" -}}
{{- range . }}
- name: {{ .name }}_FILE
  value: /etc/gatehouse/secrets/{{ include "gatehouse.key" .name }}
{{- end }}
{{- end -}}

{{/* 288 is 0440: as an octal number readers of YAML 1.1 and 1.2 would differ. */}}
{{- define "gatehouse.secretVolume" -}}
- name: secrets
  projected:
    defaultMode: 288
    sources:
      {{- range . }}
      - secret:
          name: {{ .secret }}
          items:
            - key: {{ default (include "gatehouse.key" .name) .key }}
              path: {{ include "gatehouse.key" .name }}
      {{- end }}
{{- end -}}

{{- define "gatehouse.redisVariables" -}}
{{- if eq .Values.redis.mode "bundled" }}
- name: REDIS_URL
  value: redis://{{ include "gatehouse.partName" (list . "redis") }}:6379
{{- end }}
{{- end -}}

{{/* A map of plain variables. */}}
{{- define "gatehouse.variables" -}}
{{- range $name, $value := . }}
- name: {{ $name }}
  value: {{ $value | toString | quote }}
{{- end }}
{{- end -}}
