// Command sourceignore asks the code of source-controller which files a source hands out.
//
// It prints JSON: what Go's wildcards match, what each pattern says of each path, which files of each case are archived,
// and which of them a sparse checkout has. What is asked stands in questions.json.
package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"runtime/debug"
	"sort"
	"strings"
	"time"

	"github.com/fluxcd/pkg/sourceignore"
	"github.com/fluxcd/pkg/sourceignore/gitignore"
	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing/object"
)

//go:embed questions.json
var questions []byte

type asked struct {
	// Patterns and names of Go's wildcards: each pattern is tried on each name.
	Wildcards struct{ Patterns, Names []string }
	// Patterns and the paths of files: each pattern is tried on each path, in the folder of the same position.
	Patterns []pattern
	Paths    []string
	// Sources and what they leave out.
	Archives []archive
	// A repository's files, and checkouts of some of its folders.
	Checkout []string
	Sparse   [][]string
}

type pattern struct {
	Line   string
	Folder string `json:",omitempty"`
}

type archive struct {
	Name   string
	Bucket bool    `json:",omitempty"`
	Ignore *string `json:",omitempty"`
	// The paths of files and what they say. A text that begins with "-> " is a link's target, "(N long)" is replaced by
	// as many letters.
	Files map[string]string
}

func main() {
	log.SetFlags(0)
	var ask asked
	must(json.Unmarshal(questions, &ask))
	output := struct {
		Versions  map[string]string   `json:"versions"`
		Wildcards []string            `json:"wildcards"`
		Patterns  []string            `json:"patterns"`
		Archives  map[string][]string `json:"archives"`
		Folders   map[string][]string `json:"folders"`
		Sparse    [][]string          `json:"sparse"`
	}{Versions: versions(), Archives: map[string][]string{}, Folders: map[string][]string{}}
	for _, pattern := range ask.Wildcards.Patterns {
		output.Wildcards = append(output.Wildcards, wildcards(pattern, ask.Wildcards.Names))
	}
	for _, pattern := range ask.Patterns {
		output.Patterns = append(output.Patterns, results(pattern, ask.Paths))
	}
	for _, archive := range ask.Archives {
		output.Archives[archive.Name], output.Folders[archive.Name] = archived(archive)
	}
	for _, folders := range ask.Sparse {
		output.Sparse = append(output.Sparse, checkedOut(folders, ask.Checkout))
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	must(encoder.Encode(output))
}

// wildcards has a letter for each name: `x` where it matches, `.` where it does not, `!` where the pattern is refused.
func wildcards(pattern string, names []string) string {
	var answers strings.Builder
	for _, name := range names {
		matched, err := filepath.Match(pattern, name)
		switch {
		case err != nil:
			answers.WriteByte('!')
		case matched:
			answers.WriteByte('x')
		default:
			answers.WriteByte('.')
		}
	}
	return answers.String()
}

// results has a letter for each path: `-` where it is excluded, `+` where it is included, `.` where nothing is said.
func results(pattern pattern, paths []string) string {
	var answers strings.Builder
	for _, path := range paths {
		var domain []string
		if pattern.Folder != "" {
			domain = strings.Split(pattern.Folder, "/")
		}
		letters := map[gitignore.MatchResult]byte{gitignore.NoMatch: '.', gitignore.Exclude: '-', gitignore.Include: '+'}
		result := gitignore.ParsePattern(pattern.Line, domain).Match(strings.Split(path, "/"), false)
		answers.WriteByte(letters[result])
	}
	return answers.String()
}

// archived lists the files and the folders that the archive of a source has.
func archived(archive archive) ([]string, []string) {
	dir := folder()
	defer os.RemoveAll(dir)
	for path, text := range archive.Files {
		write(dir, path, text)
	}
	kept, folders := []string{}, []string{}
	domain := strings.Split(dir, string(filepath.Separator))
	var patterns []gitignore.Pattern
	var matcher gitignore.Matcher
	if archive.Bucket {
		found, err := sourceignore.ReadIgnoreFile(filepath.Join(dir, sourceignore.IgnoreFile), nil)
		must(err)
		if archive.Ignore != nil {
			found = append(found, sourceignore.ReadPatterns(strings.NewReader(*archive.Ignore), nil)...)
		}
		matcher = sourceignore.NewMatcher(found)
	} else {
		found, err := sourceignore.LoadIgnorePatterns(dir, domain)
		must(err)
		patterns = found
		if archive.Ignore != nil {
			patterns = append(patterns, sourceignore.ReadPatterns(strings.NewReader(*archive.Ignore), domain)...)
		}
		matcher = sourceignore.NewDefaultMatcher(patterns, domain)
		if len(patterns) > 0 {
			matcher = sourceignore.NewMatcher(append(sourceignore.VCSPatterns(domain), patterns...))
		}
	}
	must(filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		must(err)
		relative, err := filepath.Rel(dir, path)
		must(err)
		asked := path
		if archive.Bucket {
			asked = relative
		}
		if matcher.Match(strings.Split(asked, string(filepath.Separator)), info.IsDir()) {
			return nil
		}
		if info.Mode().IsRegular() {
			kept = append(kept, relative)
		} else if info.IsDir() && relative != "." && !archive.Bucket {
			// The controller fetches only the files of a bucket.
			folders = append(folders, relative)
		}
		return nil
	}))
	sort.Strings(kept)
	sort.Strings(folders)
	return kept, folders
}

// checkedOut lists what a sparse checkout of some folders has, as source-controller calls for one.
func checkedOut(folders, paths []string) []string {
	origin, clone := folder(), folder()
	defer os.RemoveAll(origin)
	defer os.RemoveAll(clone)
	repository, err := git.PlainInit(origin, false)
	must(err)
	worktree, err := repository.Worktree()
	must(err)
	for _, path := range paths {
		write(origin, path, path)
	}
	must(worktree.AddWithOptions(&git.AddOptions{All: true}))
	author := &object.Signature{Name: "nobody", Email: "nobody@example.com", When: time.Unix(0, 0)}
	_, err = worktree.Commit("all", &git.CommitOptions{Author: author})
	must(err)
	cloned, err := git.PlainClone(clone, false, &git.CloneOptions{URL: origin, NoCheckout: true})
	must(err)
	worktree, err = cloned.Worktree()
	must(err)
	wanted := []string{}
	for _, folder := range folders {
		wanted = append(wanted, strings.TrimPrefix(folder, "./"))
	}
	head, err := cloned.Head()
	must(err)
	must(worktree.Checkout(&git.CheckoutOptions{SparseCheckoutDirectories: wanted, Branch: head.Name()}))
	found := []string{}
	must(filepath.Walk(clone, func(path string, info os.FileInfo, err error) error {
		must(err)
		relative, err := filepath.Rel(clone, path)
		must(err)
		if info.Mode().IsRegular() && !strings.HasPrefix(relative, ".git/") {
			found = append(found, relative)
		}
		return nil
	}))
	sort.Strings(found)
	return found
}

func write(dir, path, text string) {
	full := filepath.Join(dir, path)
	must(os.MkdirAll(filepath.Dir(full), 0o755))
	if target, ok := strings.CutPrefix(text, "-> "); ok {
		must(os.Symlink(target, full))
		return
	}
	var length int
	if _, err := fmt.Sscanf(text, "(%d long)", &length); err == nil {
		_, after, _ := strings.Cut(text, ")")
		text = strings.Repeat("x", length) + after
	}
	must(os.WriteFile(full, []byte(text), 0o644))
}

func folder() string {
	dir, err := os.MkdirTemp("", "source-")
	must(err)
	return dir
}

func versions() map[string]string {
	versions := map[string]string{}
	info, _ := debug.ReadBuildInfo()
	versions["go"] = info.GoVersion
	for _, dependency := range info.Deps {
		switch dependency.Path {
		case "github.com/fluxcd/pkg/sourceignore", "github.com/go-git/go-git/v5":
			versions[dependency.Path] = dependency.Version
		}
	}
	return versions
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
