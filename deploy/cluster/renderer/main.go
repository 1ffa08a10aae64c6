// Renders the chart as helm does, for tests: text/template with sprig and the functions that helm adds. Values files
// are merged in their order over values.yaml. Build: GO111MODULE=off GOPATH=/usr/share/gocode go build -o OUT main.go
// (Debian: golang-go, golang-github-masterminds-sprig-dev, golang-gopkg-yaml.v3-dev).
//
// render CHART RELEASE NAMESPACE [VALUES.yaml]… writes a JSON object: path of each template → its text, or "error".
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"gopkg.in/yaml.v3"
)

type object = map[string]interface{}

type files struct{ directory string }

func (f files) Get(name string) string {
	bytes, err := os.ReadFile(filepath.Join(f.directory, name))
	if err != nil {
		return ""
	}
	return string(bytes)
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func read(path string) object {
	// gatehouse:ignore path-traversal a tool of tests that is run with paths of its own
	bytes, err := os.ReadFile(path)
	must(err)
	var value object
	must(yaml.Unmarshal(bytes, &value))
	return value
}

// null takes a key out, as in helm
func merge(under, over object) object {
	for key, value := range over {
		if value == nil {
			delete(under, key)
			continue
		}
		inner, isMap := value.(object)
		below, wasMap := under[key].(object)
		if isMap && wasMap {
			under[key] = merge(below, inner)
		} else {
			under[key] = value
		}
	}
	return under
}

func toYaml(value interface{}) string {
	var text strings.Builder
	encoder := yaml.NewEncoder(&text)
	encoder.SetIndent(2)
	if encoder.Encode(value) != nil {
		return ""
	}
	return strings.TrimSuffix(text.String(), "\n")
}

func functions(root *template.Template) template.FuncMap {
	all := sprig.TxtFuncMap()
	delete(all, "env")
	delete(all, "expandenv")
	all["toYaml"] = toYaml
	all["fromYaml"] = func(text string) object {
		var value object
		if err := yaml.Unmarshal([]byte(text), &value); err != nil {
			return object{"Error": err.Error()}
		}
		return value
	}
	all["toJson"] = func(value interface{}) string {
		bytes, _ := json.Marshal(value)
		return string(bytes)
	}
	all["fromJsonArray"] = func(text string) []interface{} {
		var value []interface{}
		if err := json.Unmarshal([]byte(text), &value); err != nil {
			return []interface{}{err.Error()}
		}
		return value
	}
	all["include"] = func(name string, data interface{}) (string, error) {
		var text strings.Builder
		err := root.ExecuteTemplate(&text, name, data)
		return text.String(), err
	}
	all["fail"] = func(message string) (string, error) { return "", errors.New(message) }
	all["required"] = func(message string, value interface{}) (interface{}, error) {
		if value == nil || value == "" {
			return nil, errors.New(message)
		}
		return value, nil
	}
	all["lookup"] = func(...string) object { return object{} }
	return all
}

func main() {
	chart, release, namespace := os.Args[1], os.Args[2], os.Args[3]
	values := read(filepath.Join(chart, "values.yaml"))
	for _, path := range os.Args[4:] {
		values = merge(values, read(path))
	}
	meta := read(filepath.Join(chart, "Chart.yaml"))
	root := template.New("chart").Option("missingkey=zero")
	root.Funcs(functions(root))
	var names []string
	must(filepath.Walk(filepath.Join(chart, "templates"), func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		// gatehouse:ignore path-traversal a tool of tests that is run with paths of its own
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(chart, path)
		names = append(names, name)
		_, err = root.New(name).Parse(string(text))
		return err
	}))
	data := object{
		"Values":       values,
		"Release":      object{"Name": release, "Namespace": namespace, "Service": "Helm", "IsInstall": true},
		"Chart":        object{"Name": meta["name"], "Version": meta["version"], "AppVersion": meta["appVersion"]},
		"Capabilities": object{"KubeVersion": object{"Version": "v1.31.0", "Major": "1", "Minor": "31"}},
		"Files":        files{chart},
		"Template":     object{"BasePath": "templates"},
	}
	result := map[string]string{}
	for _, name := range names {
		if strings.HasPrefix(filepath.Base(name), "_") {
			continue
		}
		var text strings.Builder
		if err := root.ExecuteTemplate(&text, name, data); err != nil {
			result = map[string]string{"error": err.Error()}
			break
		}
		// text/template writes this for what is not there; helm writes nothing
		result[name] = strings.ReplaceAll(text.String(), "<no value>", "")
	}
	must(json.NewEncoder(os.Stdout).Encode(result))
}
