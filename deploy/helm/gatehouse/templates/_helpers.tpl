{{- define "gatehouse.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{/* Room is left for the longest part that follows: names of objects have 63 characters at most. */}}
{{- define "gatehouse.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains (include "gatehouse.name" .) .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "gatehouse.name" .) | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* The next templates take a list: the context, and the name of the part. */}}
{{- define "gatehouse.partName" -}}
{{- printf "%s-%s" (include "gatehouse.fullname" (index . 0)) (index . 1) -}}
{{- end -}}

{{- define "gatehouse.selector" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: {{ include "gatehouse.name" $root }}
app.kubernetes.io/instance: {{ $root.Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end -}}

{{- define "gatehouse.labels" -}}
{{- $root := index . 0 -}}
{{ include "gatehouse.selector" . }}
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_" }}
{{- end -}}

{{/* A list: the context, and the values of an image. */}}
{{- define "gatehouse.image" -}}
{{- $root := index . 0 -}}
{{- $image := index . 1 -}}
{{- $name := $image.repository -}}
{{- if $root.Values.image.registry -}}
{{- $name = printf "%s/%s" (trimSuffix "/" $root.Values.image.registry) $name -}}
{{- end -}}
{{- if $image.digest -}}
{{- printf "%s@%s" $name $image.digest -}}
{{- else -}}
{{- printf "%s:%s" $name (default $root.Chart.AppVersion $root.Values.image.tag) -}}
{{- end -}}
{{- end -}}

{{- define "gatehouse.serviceAccountName" -}}
{{- $root := index . 0 -}}
{{- default (include "gatehouse.partName" (list $root (index . 1))) (index $root.Values.serviceAccount (index . 2)) -}}
{{- end -}}

{{/* The key of a secret in a Secret is its variable in small letters: AUTH_SESSION_SECRET is auth-session-secret. */}}
{{- define "gatehouse.key" -}}
{{- . | lower | replace "_" "-" -}}
{{- end -}}

{{/* Where nodes reach the control planes of this release from within the cluster. */}}
{{- define "gatehouse.nodesUrl" -}}
{{- printf "https://%s.%s.svc:8096" (include "gatehouse.partName" (list . "nodes")) .Release.Namespace -}}
{{- end -}}

{{- define "gatehouse.joinUrls" -}}
{{- if .Values.join.urls -}}
{{- join "," .Values.join.urls -}}
{{- else -}}
{{- include "gatehouse.nodesUrl" . -}}
{{- end -}}
{{- end -}}

{{/* What contradicts itself is refused with what to do. */}}
{{- define "gatehouse.check" -}}
{{- $v := .Values -}}
{{- if and $v.controlPlane.enabled (eq $v.database.mode "embedded") (gt (int $v.controlPlane.replicas) 1) -}}
{{- fail "controlPlane.replicas is more than 1, and database.mode is embedded: several control planes need one PostgreSQL. Set database.mode to external." -}}
{{- end -}}
{{- if and $v.controlPlane.enabled (eq $v.database.mode "embedded") (not $v.controlPlane.persistence.enabled) -}}
{{- fail "database.mode is embedded, and controlPlane.persistence.enabled is false: everything would be lost with the pod. Set controlPlane.persistence.enabled to true." -}}
{{- end -}}
{{- if and $v.controlPlane.enabled $v.controlPlane.persistence.enabled (gt (int $v.controlPlane.replicas) 1) -}}
{{- fail "controlPlane.persistence is one volume for one pod, and controlPlane.replicas is more than 1. Set controlPlane.persistence.enabled to false." -}}
{{- end -}}
{{- if and $v.dataPlane.enabled (not $v.controlPlane.enabled) (not $v.join.urls) -}}
{{- fail "controlPlane.enabled is false, and join.urls names no control plane elsewhere. Set join.urls, such as [https://control.example.org:8096]." -}}
{{- end -}}
{{- if and $v.join.tokenSecret (not $v.join.urls) -}}
{{- fail "join.tokenSecret is for control planes elsewhere, and join.urls names none. Leave it empty: nodes of this release join with nodes-join-secret." -}}
{{- end -}}
{{- if and $v.console.enabled (not $v.controlPlane.enabled) -}}
{{- fail "console.enabled is true, and controlPlane.enabled is false: the console stands in front of the control plane of this release. Set console.enabled to false." -}}
{{- end -}}
{{- if and $v.dataPlane.autoscaling.enabled (gt (int $v.dataPlane.autoscaling.minReplicas) (int $v.dataPlane.autoscaling.maxReplicas)) -}}
{{- fail "dataPlane.autoscaling.minReplicas is more than maxReplicas." -}}
{{- end -}}
{{- if and $v.dataPlane.autoscaling.enabled (not $v.join.urls) (gt (int $v.dataPlane.autoscaling.maxReplicas) (int $v.join.nodesMax)) -}}
{{- fail "dataPlane.autoscaling.maxReplicas is more than join.nodesMax: pods beyond that could not enrol. Raise join.nodesMax." -}}
{{- end -}}
{{- end -}}
